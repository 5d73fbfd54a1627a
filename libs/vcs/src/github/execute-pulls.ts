import { type ExecuteResult, isOpenedBy, isOwnBranch } from '@pipeline/domain';
import { toPullRequest } from './convert.ts';
import { answered } from './errors.ts';
import { commentOnce } from './execute-comments.ts';
import { contentMarker, hasMarker, keepMarkers, withMarker } from './marker.ts';
import { done, type Executor, repeated, type Target } from './target.ts';

export const createPR: Executor<'createPR'> = async (target, { head, base, title, body, draft, marker }) => {
  const { client, at } = target;
  // `owner:branch` would open a pull request from a fork.
  if (head.includes(':')) return refused(`${head} is no branch of the repository`);
  if (target.context.mayHaveHappened) {
    const found = (await pullsOf(target, head, 'all')).find((pull) => hasMarker(pull.body, marker));
    if (found) return adopted(target, found);
  }
  try {
    const { data } = await client.rest.pulls.create({
      ...at,
      head,
      base,
      title,
      body: withMarker(body, marker),
      draft,
    });
    return done({ number: data.number, url: data.html_url, sha: data.head.sha });
  } catch (error) {
    // One open pull request per head and base: the requested one exists.
    const open = answered(error, 422) ? await pullsOf(target, head, 'open') : [];
    const found = open.find((pull) => pull.base.ref === base);
    if (found) return adopted(target, found);
    throw error;
  }
};

/** Pull requests from a branch of the repository itself; those of forks never count, whatever account owns the fork. */
async function pullsOf({ client, at, repo }: Target, head: string, state: 'open' | 'all') {
  const query = { ...at, head: `${at.owner}:${head}`, state, per_page: 100 };
  const found = await client.paginate(client.rest.pulls.list, query);
  return found.filter((pull) => isOwnBranch(toPullRequest(pull), repo));
}

type Pull = Awaited<ReturnType<typeof pullsOf>>[number];

/** One that is there already is ours only if the pipeline or one of its workers opened it. */
async function adopted(target: Target, pull: Pull): Promise<ExecuteResult> {
  const logins = [await target.login(), ...(target.context.workerLogins ?? [])];
  if (isOpenedBy(logins, toPullRequest(pull), target.repo)) {
    return repeated({ number: pull.number, url: pull.html_url, sha: pull.head.sha });
  }
  const author = pull.user?.login ?? 'a deleted user';
  const remedy = 'close it, or add its author to review.workerLogins';
  return refused(`pull request #${pull.number} of ${author} is open on the branch: ${remedy}`);
}

const refused = (message: string): ExecuteResult => ({ status: 'refused', httpStatus: 422, message, kind: 'other' });

export const updatePR: Executor<'updatePR'> = async (target, { prNumber, title, body, draft }) => {
  const pull = { ...target.at, pull_number: prNumber };
  const { data } = await target.client.rest.pulls.get(pull);
  const text = body === undefined ? undefined : keepMarkers(data.body, body);
  const edit = {
    ...(title === undefined || title === data.title ? {} : { title }),
    ...(text === undefined || text === data.body ? {} : { body: text }),
  };
  const edits = Object.keys(edit).length > 0;
  const drafts = draft !== undefined && draft !== data.draft;
  if (edits) await target.client.rest.pulls.update({ ...pull, ...edit });
  if (drafts) await setDraft(target, data.node_id, draft);
  return edits || drafts ? done({ number: prNumber }) : repeated({ number: prNumber });
};

/** The REST API cannot change `draft`; these two mutations can. */
async function setDraft({ client, at }: Target, pullRequestId: string, draft: boolean): Promise<void> {
  const mutation = draft ? 'convertPullRequestToDraft' : 'markPullRequestReadyForReview';
  const query = `mutation($id: ID!) { ${mutation}(input: { pullRequestId: $id }) { pullRequest { isDraft } } }`;
  await client.graphql(query, { id: pullRequestId, request: { ...at.request, retries: 0 } });
}

export const requestReview: Executor<'requestReview'> = async (target, { prNumber, reviewers }) => {
  if (reviewers.length === 0) return repeated();
  await target.client.rest.pulls.requestReviewers({ ...target.at, pull_number: prNumber, reviewers });
  return done();
};

const REVIEW_EVENT = { approve: 'APPROVE', request_changes: 'REQUEST_CHANGES', comment: 'COMMENT' } as const;

export const submitReview: Executor<'submitReview'> = async (target, action) => {
  const { client, context } = target;
  const pull = { ...target.at, pull_number: action.prNumber };
  const marker = contentMarker('review', action.prNumber, action.event, action.body, action.comments);
  if (context.mayHaveHappened) {
    const reviews = await client.paginate(client.rest.pulls.listReviews, { ...pull, per_page: 100 });
    const login = await target.login();
    const found = reviews.find((review) => review.user?.login === login && hasMarker(review.body, marker));
    if (found) return repeated({ number: found.id, url: found.html_url });
  }
  const review = { ...pull, event: REVIEW_EVENT[action.event] };
  const comments = action.comments.map((comment) => ({ ...comment, side: 'RIGHT' }));
  try {
    const { data } = await client.rest.pulls.createReview({
      ...review,
      body: withMarker(action.body, marker),
      comments,
    });
    return done({ number: data.id, url: data.html_url });
  } catch (error) {
    // One comment outside the diff refuses the whole review; the host does not say which one.
    if (comments.length === 0 || !answered(error, 422) || !OUTSIDE.test(error.message)) throw error;
    const body = withMarker(withRemarks(action), marker);
    const { data } = await client.rest.pulls.createReview({ ...review, body });
    return done({ number: data.id, url: data.html_url });
  }
};

const OUTSIDE = /could not be resolved|must be part of the diff|unprocessable entity/i;

/** The text of a review whose comments cannot stand on their lines. */
const withRemarks = ({ body, comments }: { body: string; comments: { path: string; line: number; body: string }[] }) =>
  [body, ...comments.map(({ path, line, body: text }) => `\`${path.replaceAll('`', '')}:${line}\`: ${text}`)]
    .filter((part) => part !== '')
    .join('\n\n');

/** Closes before it comments, for the reason that closeIssue gives. */
export const closePR: Executor<'closePR'> = async (target, { prNumber, comment }) => {
  const pull = { ...target.at, pull_number: prNumber };
  const { data } = await target.client.rest.pulls.get(pull);
  const wasClosed = data.state === 'closed';
  if (!wasClosed) await target.client.rest.pulls.update({ ...pull, state: 'closed' });
  if (comment !== null) {
    const marker = contentMarker('close', prNumber, comment);
    await commentOnce(target, prNumber, { body: comment, marker, look: wasClosed });
  }
  return wasClosed ? repeated({ number: prNumber }) : done({ number: prNumber });
};
