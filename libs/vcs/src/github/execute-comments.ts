import type { HostComment } from '@pipeline/domain';
import { listComments } from './comments.ts';
import { answered } from './errors.ts';
import { hasMarker, withMarker } from './marker.ts';
import { repoKey } from './repo-address.ts';
import { done, type Executor, repeated, type Target } from './target.ts';

export const postComment: Executor<'postComment'> = (target, { body, marker }) =>
  commentOnce(target, target.issueNumber, { body, marker, look: target.context.mayHaveHappened });

/**
 * Keeps one comment up to date; a comment that was deleted is written again. One request for a comment that this
 * process has written before, unless an earlier attempt is in doubt.
 */
export const updateComment: Executor<'updateComment'> = async (target, action) => {
  const { issueNumber, keptComments, context } = target;
  const body = withMarker(action.body, action.marker);
  const key = `${repoKey(target.repo)}#${issueNumber} ${action.marker}`;
  const known = context.mayHaveHappened ? undefined : keptComments.get(key);
  const edited = known === undefined ? null : await edit(target, known, body);
  const written = edited ?? (await findAndWrite(target, action.marker, body));
  keptComments.set(key, written.commentId);
  const { isRepeated, ...created } = written;
  return isRepeated ? repeated(created) : done(created);
};

interface WrittenComment {
  commentId: number;
  url?: string;
  isRepeated: boolean;
}

/** @returns null when there is no such comment any more. */
async function edit({ client, at }: Target, commentId: number, body: string): Promise<WrittenComment | null> {
  try {
    const { data } = await client.rest.issues.updateComment({ ...at, comment_id: commentId, body });
    return { commentId, url: data.html_url, isRepeated: false };
  } catch (error) {
    if (answered(error, 404)) return null;
    throw error;
  }
}

/** Lists the comments of the issue for the one with the marker, and writes it or a new one. */
async function findAndWrite(target: Target, marker: string, body: string): Promise<WrittenComment> {
  const { client, at, issueNumber } = target;
  const found = await findComment(target, issueNumber, marker);
  if (found?.body === body) return { commentId: found.id, isRepeated: true };
  const edited = found ? await edit(target, found.id, body) : null;
  if (edited) return edited;
  const { data } = await client.rest.issues.createComment({ ...at, issue_number: issueNumber, body });
  return { commentId: data.id, url: data.html_url, isRepeated: false };
}

interface OnceComment {
  body: string;
  marker: string;
  /** True = an earlier attempt may have written it. */
  look: boolean;
}

/** Writes a comment on an issue or a pull request, unless it is looked for and found. */
export async function commentOnce(target: Target, number: number, comment: OnceComment) {
  const found = comment.look ? await findComment(target, number, comment.marker) : undefined;
  if (found) return repeated({ commentId: found.id });
  const { data } = await target.client.rest.issues.createComment({
    ...target.at,
    issue_number: number,
    body: withMarker(comment.body, comment.marker),
  });
  return done({ commentId: data.id, url: data.html_url });
}

/** Only our own comments count: every account can copy a marker into its own. */
async function findComment(target: Target, number: number, marker: string): Promise<HostComment | undefined> {
  const [login, comments] = await Promise.all([target.login(), listComments(target.client, target.repo, number)]);
  return comments.find((comment) => comment.author === login && hasMarker(comment.body, marker));
}
