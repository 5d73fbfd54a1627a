import type { RequestError } from '@octokit/request-error';
import type { ExecuteResult } from '@pipeline/domain';
import { answered } from './errors.ts';
import { done, type Executor, repeated, type Target } from './target.ts';

type Refused = Extract<ExecuteResult, { status: 'refused' }>;

/** Merges only what was reviewed: the host compares `expectedHeadSha` with the branch in the same step. */
export const mergePR: Executor<'mergePR'> = async (target, action) => {
  const { client, context } = target;
  const pull = { ...target.at, pull_number: action.prNumber };
  const before = context.mayHaveHappened ? (await client.rest.pulls.get(pull)).data : null;
  if (before?.merged) return mergedAlready(before);
  try {
    const merge = { ...pull, sha: action.expectedHeadSha, merge_method: action.method };
    const { data } = await client.rest.pulls.merge(merge);
    return done({ number: action.prNumber, sha: data.sha });
  } catch (error) {
    if (answered(error, 409)) return { ...refused(error, 'not-ready'), headSha: await headOf(target, action.prNumber) };
    if (!answered(error, 405)) throw error;
    const { data } = await client.rest.pulls.get(pull);
    // A pull request that is merged already answers 405 as well.
    return data.merged ? mergedAlready(data) : explain(error, data);
  }
};

/** The head that is there instead: the push that moved it may not be known yet. */
const headOf = async ({ client, at }: Target, prNumber: number): Promise<string> =>
  (await client.rest.pulls.get({ ...at, pull_number: prNumber })).data.head.sha;

const mergedAlready = (pull: { number: number; merge_commit_sha: string | null }): ExecuteResult =>
  repeated({ number: pull.number, ...(pull.merge_commit_sha === null ? {} : { sha: pull.merge_commit_sha }) });

const refused = (error: RequestError, kind: Refused['kind']): Refused => ({
  status: 'refused',
  httpStatus: error.status,
  message: error.message,
  kind,
});

const PROTECTED =
  /approving review|review is required|changes requested|required status check|protected branch|rule violation|code owner/i;

interface Standing {
  state: string;
  draft?: boolean;
  mergeable_state: string;
}

/**
 * Tells the reasons of a 405 apart: first by what it says, then by the state the host gives the pull
 * request. `behind` counts as a conflict, for it too is mended on the branch.
 */
function explain(error: RequestError, pull: Standing): ExecuteResult {
  // The host is still working it out, or another merge went first: the same request may succeed in a moment.
  if (/base branch was modified/i.test(error.message))
    return { status: 'failed', message: error.message, ambiguous: false };
  if (PROTECTED.test(error.message)) return refused(error, 'protected');
  if (/merge conflict|can't be rebased/i.test(error.message)) return refused(error, 'conflict');
  if (pull.state === 'closed') return refused(error, 'other');
  if (pull.draft || pull.mergeable_state === 'draft') return refused(error, 'not-ready');
  switch (pull.mergeable_state) {
    case 'dirty':
    case 'behind':
      return refused(error, 'conflict');
    case 'blocked':
      return refused(error, 'protected');
    case 'unknown':
      return { status: 'failed', message: error.message, ambiguous: false };
    default:
      return refused(error, 'other');
  }
}
