import { branchOf, type HostPullRequest, type ProjectionAction } from '@pipeline/domain';
import { sql } from 'kysely';
import { PEOPLE } from '../host/state.ts';
import type { Acts } from '../world/acts.ts';
import type { MergeLedger, Stage, World } from '../world/world.ts';

const keyOf = (number: number, sha: string | null): string => `${number} ${sha}`;

/** Heads of the pipeline's own open pull requests, according to the store. */
const ownHeads = sql<{ number: number; sha: string; issue: number }>`
  select p.number, p.head_sha as sha, i.issue_number as issue from pull_requests p
  join issues i on i.id = p.issue_id where p.state = 'open' and p.agent_authored`;

/** Records approvals: reviewers by their reports, operators by moving an issue to its merge. */
export function withLedger(acts: Acts, { database, host }: Stage, ledger: MergeLedger): Acts {
  host.onWrite = (action, issue) =>
    ledger.breaches.push(...wrongIn(host.state, ledger, action), ...foreignIn(host.state, action, issue));
  return {
    ...acts,
    async deliver(events) {
      await acts.deliver(events);
      for (const event of events) {
        if (event.kind === 'review' && event.review.verdict === 'dismissed') ledger.dismissed.add(event.review.id);
      }
    },
    async report(task, body) {
      const answer = await acts.report(task, body);
      const { pr } = task.payload;
      const isApproval = body.outcome === 'approved' && answer.state === 'merge-pending';
      if (isApproval && pr) ledger.approved.add(keyOf(pr.number, pr.headSha));
      return answer;
    },
    async transition(number, target) {
      const { rows } = await ownHeads.execute(database.db);
      const answer = await acts.transition(number, target);
      const isMerge = target === 'merge-pending';
      for (const { number: pr, sha, issue } of rows) {
        if (isMerge && issue === number) ledger.approved.add(keyOf(pr, sha));
      }
      return answer;
    },
  };
}

type HostOf = World['host']['state'];

/** The client of the host sets the status of a pull request on its head alone. */
const isWritten = (
  { prNumber, sha }: Extract<ProjectionAction, { type: 'setCommitStatus' }>,
  pull: HostPullRequest | undefined,
) => prNumber === undefined || pull?.headSha === sha;

/** Writes of an issue to the branch, a commit or the pull request of another one. */
function foreignIn(host: HostOf, action: ProjectionAction, issue: number): string[] {
  const branch = branchOf(issue);
  const what = `${action.type} of issue ${issue}`;
  if (action.type === 'createPR') return action.head === branch ? [] : [`${what} from ${action.head}`];
  if (action.type === 'deleteBranch') return action.branch === branch ? [] : [`${what}: ${action.branch}`];
  const pull = 'prNumber' in action ? host.pulls.get(action.prNumber ?? 0) : undefined;
  if (action.type === 'setCommitStatus' && isWritten(action, pull)) {
    const heads = host.pullsOf(branch).flatMap(({ number }) => host.headsOf(number));
    return [...heads, ...host.pushedTo(branch)].includes(action.sha) ? [] : [`${what} on ${action.sha}`];
  }
  return !pull || pull.headRef === branch ? [] : [`${what}: pull request ${pull.number} of ${pull.headRef}`];
}

/** Violations by a write, checked before the host executes it. */
function wrongIn(host: HostOf, ledger: MergeLedger, action: ProjectionAction): string[] {
  if (!('prNumber' in action) || action.type === 'setCommitStatus') return [];
  const { type, prNumber } = action;
  const pull = host.pulls.get(prNumber);
  if (!pull || !host.isOwn(pull))
    return [`${type} of pull request ${prNumber} of ${pull?.author} in ${pull?.headRepo}`];
  // A repeated merge of a merged pull request changes nothing.
  if (action.type !== 'mergePR' || pull.merged) return [];
  const sha = action.expectedHeadSha;
  if (ledger.approved.has(keyOf(prNumber, sha)) || isApprovedByAPerson(host, ledger, pull, sha)) return [];
  return [`a merge of ${prNumber} at ${sha}, which no person approved`];
}

/**
 * Returns whether a review by a person approves the pull request at that commit; a dismissal counts from its delivery
 * on.
 */
const isApprovedByAPerson = (host: HostOf, { dismissed }: MergeLedger, { number }: HostPullRequest, sha: string) =>
  (host.reviews.get(number) ?? []).some(
    ({ id, author, commitSha }) =>
      commitSha === sha && author !== null && isWriter(author) && host.approvals.has(id) && !dismissed.has(id),
  );

const isWriter = (login: string): boolean => PEOPLE[login as keyof typeof PEOPLE] === 'write';

/**
 * Only approved commits are merged, and a pull request that the pipeline did not open is never reviewed, given a
 * status, closed, merged, or passed to a worker. @returns violations.
 */
export function mergeBreaches({ ledger, held, host }: Pick<World, 'ledger' | 'held' | 'host'>): string[] {
  const foreign = held.flatMap(({ task }) => {
    const number = task.payload.pr?.number;
    const pull = host.state.pulls.get(number ?? 0);
    return number === undefined || (pull && host.state.isOwn(pull)) ? [] : [number];
  });
  return [...ledger.breaches, ...foreign.map((number) => `a worker was given pull request ${number}`)];
}
