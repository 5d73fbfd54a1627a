import type { RequestError } from '@octokit/request-error';
import type { ExecuteResult } from '@pipeline/domain';
import { sleep } from '@pipeline/runtime';
import { answered } from './errors.ts';
import { mergeByQueue } from './merge-queue.ts';
import { done, type Executor, repeated, type Target } from './target.ts';

type Refused = Extract<ExecuteResult, { status: 'refused' }>;

/** Merges only what was reviewed: the host compares `expectedHeadSha` with the branch in the same step. */
export const mergePR: Executor<'mergePR'> = async (target, action) => {
  const { client, context } = target;
  const pull = { ...target.at, pull_number: action.prNumber };
  const before = context.mayHaveHappened ? (await client.rest.pulls.get(pull)).data : null;
  if (before?.merged) return mergedAlready(before);
  try {
    const merge = { ...pull, sha: action.expectedHeadSha, merge_method: action.method, ...messageOf(target, action) };
    const { data } = await client.rest.pulls.merge(merge);
    return done({ number: action.prNumber, sha: data.sha });
  } catch (error) {
    if (answered(error, 409)) return { ...refused(error, 'not-ready'), headSha: await headOf(target, action.prNumber) };
    if (!answered(error, 405)) throw error;
    if (QUEUED_ONLY.test(error.message)) return await mergeByQueue(target, action);
    const data = await settledPull(target, action.prNumber);
    // A pull request that is merged already answers 405 as well.
    return data.merged ? mergedAlready(data) : explain(error, data);
  }
};

/** The message of a squashed commit: the host's own quotes those of the commits, whose closing words would count. */
function messageOf({ issueNumber }: Target, { method, prNumber, title }: Parameters<typeof mergePR>[1]) {
  if (method !== 'squash') return {};
  return { commit_message: `Refs #${issueNumber}`, ...(title && { commit_title: `${title} (#${prNumber})` }) };
}

/** The head of a pull request on the host: the push that moved it may not be known yet. */
export const headOf = async ({ client, at }: Target, prNumber: number): Promise<string> =>
  (await client.rest.pulls.get({ ...at, pull_number: prNumber })).data.head.sha;

const mergedAlready = (pull: { number: number; merge_commit_sha: string | null }): ExecuteResult =>
  repeated({ number: pull.number, ...(pull.merge_commit_sha === null ? {} : { sha: pull.merge_commit_sha }) });

const refused = (error: RequestError, kind: Refused['kind']): Refused => ({
  status: 'refused',
  httpStatus: error.status,
  message: error.message,
  kind,
});

const QUEUED_ONLY = /changes must be made through the merge queue/i;
const CHECKS = /required status checks?|status checks? .{0,80}(expected|pending|failing)/i;
const PROTECTED = /approving review|review is required|requesting changes|protected branch|rule violation|code owner/i;

interface PullState {
  state: string;
  draft?: boolean;
  mergeable_state: string;
}

/**
 * Distinguishes the reasons of a 405: first by its message, then by the state the host gives the pull
 * request. A branch that is behind is refused as if its required checks were missing, however green they are.
 */
function explain(error: RequestError, pull: PullState): ExecuteResult {
  // The host is still working it out, or another merge went first: the same request may succeed in a moment.
  if (/base branch was modified/i.test(error.message))
    return { status: 'failed', message: error.message, ambiguous: false };
  if (CHECKS.test(error.message)) return refused(error, pull.mergeable_state === 'behind' ? 'behind' : 'checks');
  if (PROTECTED.test(error.message)) return refused(error, 'protected');
  if (/merge conflict|can't be rebased/i.test(error.message)) return refused(error, 'conflict');
  if (pull.state === 'closed') return refused(error, 'other');
  if (pull.draft || pull.mergeable_state === 'draft') return refused(error, 'draft');
  switch (pull.mergeable_state) {
    case 'dirty':
      return refused(error, 'conflict');
    case 'behind':
      return refused(error, 'behind');
    case 'blocked':
      return refused(error, 'protected');
    case 'unknown':
      return { status: 'failed', message: error.message, ambiguous: false };
    default:
      return refused(error, 'other');
  }
}

const READS = 3;
const PAUSE_MS = 500;

/** The pull request once the host has computed its state: the first answer after a change is `unknown`. */
async function settledPull({ client, at, context }: Target, prNumber: number) {
  for (let read = 1; ; read += 1) {
    const { data } = await client.rest.pulls.get({ ...at, pull_number: prNumber });
    if (data.mergeable_state !== 'unknown' || data.state === 'closed' || read === READS) return data;
    await sleep(PAUSE_MS, context.signal);
  }
}

/**
 * The head after its update, which the host may make after its answer; the old one if that takes longer than a second.
 */
async function updatedHead(
  target: Target,
  { prNumber, expectedHeadSha }: { prNumber: number; expectedHeadSha: string },
): Promise<string> {
  for (let read = 1; ; read += 1) {
    const head = await headOf(target, prNumber);
    if (head !== expectedHeadSha || read === READS) return head;
    await sleep(PAUSE_MS, target.context.signal);
  }
}

/** Merges the base into the head; the host takes the request and does it later. */
export const updateBranch: Executor<'updateBranch'> = async (target, { prNumber, expectedHeadSha }) => {
  const pull = { ...target.at, pull_number: prNumber };
  try {
    await target.client.rest.pulls.updateBranch({ ...pull, expected_head_sha: expectedHeadSha });
  } catch (error) {
    if (!answered(error, 422)) throw error;
    if (/no new commits/i.test(error.message)) return repeated({ number: prNumber, sha: expectedHeadSha });
    if (/merge conflict/i.test(error.message)) return refused(error, 'conflict');
    if (!/expected head sha/i.test(error.message)) throw error;
    return repeated({ number: prNumber, sha: await headOf(target, prNumber) });
  }
  return done({ number: prNumber, sha: await updatedHead(target, { prNumber, expectedHeadSha }) });
};
