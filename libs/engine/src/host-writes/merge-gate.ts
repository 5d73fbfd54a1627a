import {
  type ChecksVerdict,
  type ChecksWait,
  chooseFront,
  type HostCheck,
  type HostPullRequest,
  judgeChecks,
  MINUTE_MS,
  mergeMethodOf,
  type ProjectionAction,
  type ReportedCheck,
  type VcsHost,
  withoutClosingWords,
} from '@pipeline/domain';
import {
  findPullRequest,
  isSerial,
  lockIssue,
  lockTrainFront,
  ownPullRequest,
  saveAllChecks,
  setChecksWait,
  setTrainFront,
  touchTrainFront,
  trainCars,
} from '@pipeline/store';
import { type Engine, inTenant, type TransactionContext } from '../context/context.ts';
import { ENGINE } from '../context/issue-context.ts';
import { assertHeld } from '../context/leader.ts';
import { mayActAsPerson, type PersonReads } from '../intake/person.ts';
import { queueProjections } from '../outbox/project.ts';
import { revokeApproval } from '../workflow/revoke-approval.ts';
import type { Sending } from './begin.ts';
import { rerunOf, settleRedHead } from './failed-checks.ts';
import { endWaiting, type HeldMerge, holdDraft, holdMerge, keepWaiting, postponeMerge } from './merge-wait.ts';

type Host = Pick<VcsHost, 'checksOf' | 'mergeRulesOf' | 'isBehind' | 'logTailOf' | 'rerunCheck' | 'getPullRequest'> &
  PersonReads;
type Merge = Extract<ProjectionAction, { type: 'mergePR' }>;

/** Logs that are read of one commit. */
const MAX_LOGS = 5;

/**
 * Lets a merge through only if the checks of its head are green on the host now; every other write
 * passes. The host is asked before the transaction. A merge that must wait is postponed, a red one sends the issue back
 * to development with the failed checks and their logs, one into another base than the approved one needs a person again, and one whose issue is no longer merge-pending is discarded, unless
 * an earlier attempt merged it. In a repo with a merge train only the front of the train gets as
 * far as the host, and its branch is updated first if the base has moved.
 * @returns the write to send; null when there is nothing to send now. @throws what the host's reads throw.
 */
export async function passMergeGate(engine: Engine, sending: Sending, host: Host): Promise<ProjectionAction | null> {
  const { projection, repo, mayHaveHappened } = sending;
  const { action } = projection;
  if (action.type !== 'mergePR' || projection.issue_id === null) return action;
  const isInTrain = isSerial(repo);
  if (isInTrain && !(await isItsTurn(engine, sending, action))) return null;
  const pull = await host.getPullRequest(repo, action.prNumber);
  if (mayHaveHappened && pull?.merged) return action;
  const lapsed = await findLapsedApproval(engine, sending, action, host);
  const [checks, rules, isBehind] = await Promise.all([
    host.checksOf(repo, action.expectedHeadSha),
    host.mergeRulesOf(repo, repo.default_branch),
    isInTrain && host.isBehind(repo, repo.default_branch, action.expectedHeadSha),
  ]);
  const policy = repo.checks_policy as Parameters<typeof judgeChecks>[1]['policy'];
  const terms = { required: rules.requiredChecks, policy };
  const { failed } = judgeChecks(checks, { ...terms, isAllowed: true });
  const reported = await withLogs(host, sending, { checks, failed });
  let reruns: readonly ReportedCheck[] = [];
  const passed = await inTenant(engine, projection.tenant_id, async (unit) => {
    reruns = []; // The work may run again.
    const held = await holdMerge(unit, sending, action);
    if (held === 'settled') return null;
    // The host compares the head in the same step as it merges.
    if (held === 'other-head') return action;
    // Under the lock: the issue may have moved on while the host was asked, or before a dead letter was retried.
    if ('unwanted' in held) {
      await endWaiting(unit, held.unwanted, 'the issue no longer waits for its merge');
      return null;
    }
    const { pr } = held.subject;
    const problem = problemOf(held, { pull, lapsed });
    if (problem !== null) {
      await refuseApproval(unit, held, problem);
      return null;
    }
    const key = { tenantId: unit.tenantId, repoId: repo.id, sha: action.expectedHeadSha };
    await saveAllChecks(unit.tx, key, reported);
    if (pr.draft) {
      await holdDraft(unit, held, action.expectedHeadSha);
      return null;
    }
    const verdict = judgeChecks(checks, { ...terms, isAllowed: pr.unchecked_sha === action.expectedHeadSha });
    if (isBehind && verdict.verdict !== 'red') {
      await updateBeforeMerge(unit, held);
      return null;
    }
    if (verdict.verdict === 'green') {
      await letThrough(unit, held);
      const method = mergeMethodOf(repo.merge_method as Merge['method'], rules.methods);
      return { ...action, method, ...titleOf(pull) };
    }
    reruns = await holdBack(unit, held, { verdict, sha: action.expectedHeadSha, reported });
    return null;
  });
  await rerunEach(engine, sending, { host, reruns, sha: action.expectedHeadSha });
  return passed;
}

/** Asks the host to run checks again. If it refuses, the wait records that, and the next look at the checks asks a person. */
async function rerunEach(
  engine: Engine,
  { repo, projection }: Sending,
  { host, reruns, sha }: { host: Host; reruns: readonly ReportedCheck[]; sha: string },
): Promise<void> {
  if (reruns.length > 0) assertHeld(engine);
  try {
    for (const check of reruns) await host.rerunCheck(repo, check);
  } catch {
    await inTenant(engine, projection.tenant_id, async (unit) => {
      const issue =
        projection.issue_id === null ? undefined : await lockIssue(unit.tx, unit.tenantId, projection.issue_id);
      const pr = issue && (await ownPullRequest(unit.tx, unit.tenantId, issue.id));
      const wait = (pr?.checks_wait ?? null) as ChecksWait | null;
      if (!pr || !wait || rerunOf(wait, sha) === undefined) return;
      await setChecksWait(unit.tx, unit.tenantId, pr.id, { ...wait, rerun: [] });
    });
  }
}

/** Title of a squashed commit: closing words in it would close issues at the merge. */
const titleOf = (pull: HostPullRequest | null) => pull && { title: withoutClosingWords(pull.title) };

interface Lapsed {
  reviewId: number;
  by: string | null;
}

/**
 * Finds the approval of a review on the host whose author may not act as a person now: the permission was taken away, or
 * the account has pushed since. Reads the permission and the pushes of the branch.
 */
async function findLapsedApproval(
  engine: Engine,
  { projection, repo }: Sending,
  { prNumber }: Merge,
  host: Host,
): Promise<Lapsed | null> {
  const pr = await findPullRequest(engine.store.db, projection.tenant_id, repo.id, prNumber);
  if (!pr || pr.issue_id === null || pr.approved_review_id === null) return null;
  const issue = { id: pr.issue_id, issue_number: projection.issue_number };
  const mayAct = await mayActAsPerson({ engine, repo, host }, pr.approved_by, { issue, now: true });
  return mayAct ? null : { reviewId: pr.approved_review_id, by: pr.approved_by };
}

/** Returns why the approval does not hold for this merge; null = it holds. */
function problemOf(
  { subject: { pr, repo } }: HeldMerge,
  { pull, lapsed }: { pull: HostPullRequest | null; lapsed: Lapsed | null },
): string | null {
  if (pull && (pull.baseRef !== pr.base_ref || pull.baseRef !== repo.default_branch)) {
    return `the base of pull request #${pr.number} is ${pull.baseRef}: it was approved for ${repo.default_branch}`;
  }
  return lapsed?.reviewId === pr.approved_review_id ? `${lapsed.by} may not approve it any more` : null;
}

/** The approval does not hold for this merge: a person decides again. */
async function refuseApproval(unit: TransactionContext, held: HeldMerge, reason: string): Promise<void> {
  await endWaiting(unit, held, reason);
  await revokeApproval(unit, held.subject, { ...ENGINE, reason });
}

/**
 * A merge that was sent before may be in the queue of the host: it still waits for it. The wait for checks ends with the merge
 * only: a host that goes on to refuse it for a check that cannot be read here is given the same time as one that can.
 */
async function letThrough(unit: TransactionContext, { subject, mayHaveHappened }: HeldMerge): Promise<void> {
  const wait = subject.pr.checks_wait as ChecksWait | null;
  const isOfChecks = wait?.sha === subject.pr.head_sha && (wait.verdict === 'pending' || wait.verdict === 'missing');
  if (mayHaveHappened || isOfChecks) return;
  await restartFront(unit, subject);
  if (wait !== null) await setChecksWait(unit.tx, unit.tenantId, subject.pr.id, null);
}

async function withLogs(
  host: Host,
  { repo }: Sending,
  { checks, failed }: { checks: readonly HostCheck[]; failed: readonly HostCheck[] },
): Promise<readonly ReportedCheck[]> {
  const logs = new Map<HostCheck, string | null>();
  for (const check of failed.slice(0, MAX_LOGS)) logs.set(check, await host.logTailOf(repo, check));
  return checks.map((check) => ({ ...check, logTail: logs.get(check) ?? null }));
}

interface Held {
  verdict: ChecksVerdict;
  sha: string;
  reported: readonly ReportedCheck[];
}

async function holdBack(
  unit: TransactionContext,
  held: HeldMerge,
  { verdict, sha, reported }: Held,
): Promise<readonly ReportedCheck[]> {
  if (verdict.verdict === 'pending' || verdict.verdict === 'missing') {
    // What runs again has no result that must be told from the one before.
    const isAsked = rerunOf(held.subject.pr.checks_wait as ChecksWait | null, sha) !== undefined;
    const wait = { sha, verdict: verdict.verdict, waitsFor: verdict.waitsFor, ...(isAsked && { rerun: [] }) };
    await keepWaiting(unit, held, wait);
    return [];
  }
  const names = new Set(verdict.failed.map(({ name }) => name));
  const failed = reported.filter(({ name, state }) => names.has(name) && state === 'failure');
  return settleRedHead(unit, held, { sha, failed });
}

/**
 * Returns whether a merge may start, in a repo that merges one pull request after another. All others are postponed
 * without a request to the host, and record the pull request that they wait for. The choice is made under a lock of the
 * repo's train, so that of two replicas, and of concurrent attempts, one answer is true.
 */
function isItsTurn(engine: Engine, sending: Sending, action: Merge): Promise<boolean> {
  return inTenant(engine, sending.projection.tenant_id, async (unit) => {
    const held = await holdMerge(unit, sending, action);
    if (held === 'settled') return false;
    // The host compares the head, and only the host can report what became of a merge whose issue has moved on.
    if (held === 'other-head' || 'unwanted' in held) return true;
    if (held.subject.pr.draft) {
      await holdDraft(unit, held, action.expectedHeadSha);
      return false;
    }
    const front = await updateFront(unit, sending.repo.id);
    if (front === action.prNumber) return true;
    await waitForFront(unit, held, { sha: action.expectedHeadSha, front });
    return false;
  });
}

async function updateFront(unit: TransactionContext, repoId: number): Promise<number | null> {
  const { tx, tenantId, settings } = unit;
  const key = { tenantId, repoId };
  const current = await lockTrainFront(tx, key);
  const cars = await trainCars(tx, key, current?.prNumber ?? 0);
  const front = chooseFront(cars, current, settings.checks.timeoutMinutes * MINUTE_MS);
  if (front !== (current?.prNumber ?? null)) await setTrainFront(tx, key, front);
  return front;
}

/** The host is not written to: a status comment for each place in the train would be a request for each merge. */
async function waitForFront(
  unit: TransactionContext,
  held: HeldMerge,
  { sha, front }: { sha: string; front: number | null },
): Promise<void> {
  const wait: ChecksWait | null = front === null ? null : { sha, verdict: 'train', waitsFor: [`#${front}`] };
  await postponeMerge(unit, held, wait);
}

/** The base has commits that the branch lacks: the branch is updated, and its new head needs checks of its own. */
async function updateBeforeMerge(unit: TransactionContext, held: HeldMerge): Promise<void> {
  const { subject } = held;
  const { number: prNumber, head_sha: expectedHeadSha } = subject.pr;
  await endWaiting(unit, held, `the branch of #${prNumber} is behind ${subject.repo.default_branch}`);
  await queueProjections(unit, subject, [{ type: 'updateBranch', prNumber, expectedHeadSha }]);
  await restartFront(unit, subject);
}

/** The front has the time for its next step from now on. @param updatedHead the head that our update made. */
export async function restartFront(
  { tx, tenantId }: TransactionContext,
  { repo, pr }: Pick<HeldMerge['subject'], 'repo' | 'pr'>,
  updatedHead?: string,
): Promise<void> {
  if (!isSerial(repo)) return;
  await touchTrainFront(tx, { tenantId, repoId: repo.id, prNumber: pr.number }, updatedHead);
}
