import type { HostComment } from '@pipeline/domain';
import { listComments } from './comments.ts';
import { hasMarker, withMarker } from './marker.ts';
import { done, type Executor, repeated, type Target } from './target.ts';

export const postComment: Executor<'postComment'> = (target, { body, marker }) =>
  commentOnce(target, target.issueNumber, { body, marker, look: target.context.mayHaveHappened });

/** Keeps one comment up to date; a comment that somebody deleted is written again. */
export const updateComment: Executor<'updateComment'> = async (target, action) => {
  const { client, at, issueNumber } = target;
  const body = withMarker(action.body, action.marker);
  const found = await findComment(target, issueNumber, action.marker);
  if (!found) {
    const { data } = await client.rest.issues.createComment({ ...at, issue_number: issueNumber, body });
    return done({ commentId: data.id, url: data.html_url });
  }
  if (found.body === body) return repeated({ commentId: found.id });
  const { data } = await client.rest.issues.updateComment({ ...at, comment_id: found.id, body });
  return done({ commentId: data.id, url: data.html_url });
};

interface OnceComment {
  body: string;
  marker: string;
  /** Whether an earlier attempt may have written it. */
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

/** Only our own comments count: anybody can copy a marker into theirs. */
async function findComment(target: Target, number: number, marker: string): Promise<HostComment | undefined> {
  const [login, comments] = await Promise.all([target.login(), listComments(target.client, target.repo, number)]);
  return comments.find((comment) => comment.author === login && hasMarker(comment.body, marker));
}
