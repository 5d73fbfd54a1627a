import { isDeepStrictEqual } from 'node:util';
import { type ChecksWait, HOUR_MS, MINUTE_MS, namedChecks, type ProjectionAction, SECOND_MS } from '@pipeline/domain';
import {
  contextOfIssue,
  lockIssue,
  lockProjection,
  type ProjectionRow,
  type PullRequestRow,
  postponeProjection,
  setChecksWait,
  storeNow,
  updateProjection,
  updatePullRequest,
} from '@pipeline/store';
import type { TransactionContext } from '../context/context.ts';
import { ENGINE, type IssueContext } from '../context/issue-context.ts';
import { loadIssueContext } from '../context/load-issue.ts';
import { projectIssue } from '../outbox/project.ts';
import { moveBy } from '../workflow/move.ts';
import type { Sending } from './begin.ts';

/** The merge of an issue whose row, and whose outbox entry, the caller has locked. */
export interface HeldMerge {
  subject: IssueContext & { pr: PullRequestRow };
  projection: ProjectionRow;
  /** An earlier attempt may have reached the host; the next one looks before it writes. */
  mayHaveHappened: boolean;
}

/** A merge whose issue does not wait for it: changes were requested, its approval was dismissed, or the issue has ended. */
interface UnwantedMerge {
  unwanted: Parameters<typeof endWaiting>[1];
}

/** Locks the issue and its outbox entry: one round trip. A result for a settled entry, or for the attempt of another leader, is void. */
export async function holdMerge(
  unit: TransactionContext,
  { projection: { id, issue_id: issueId }, epoch, mayHaveHappened }: Sending,
  action: Extract<ProjectionAction, { type: 'mergePR' }>,
): Promise<HeldMerge | UnwantedMerge | 'settled' | 'other-head'> {
  const { tx, tenantId } = unit;
  const [issue, projection, rest] = await Promise.all([
    issueId === null ? undefined : lockIssue(tx, tenantId, issueId),
    lockProjection(tx, tenantId, id),
    issueId === null ? undefined : contextOfIssue(tx, tenantId, issueId),
  ]);
  if (projection?.status !== 'pending' || projection.attempt_epoch !== epoch) return 'settled';
  if (!issue) return 'other-head';
  const subject = await loadIssueContext(unit, issue, rest);
  if (issue.state !== 'merge-pending') return { unwanted: { subject, projection } };
  const { pr } = subject;
  if (pr?.number !== action.prNumber || pr.head_sha !== action.expectedHeadSha) return 'other-head';
  return { subject: { ...subject, pr }, projection, mayHaveHappened };
}

/**
 * Keeps a merge waiting for the checks of its head, or for the merge queue of the host: the entry is due again after `checks.pollSeconds`, and the host shows
 * what it waits for. After `checks.timeoutMinutes` of waiting for the same head the issue is blocked with `ci_timeout`.
 * @returns whether it waits.
 */
export async function keepWaiting(unit: TransactionContext, held: HeldMerge, wait: ChecksWait): Promise<boolean> {
  const { subject } = held;
  const { pr } = subject;
  const { timeoutMinutes } = unit.settings.checks;
  const known = pr.checks_wait as ChecksWait | null;
  const isSame = known?.sha === wait.sha && known.verdict !== 'train' && isOfQueue(known) === isOfQueue(wait);
  const since = isSame ? pr.checks_wait_since : null;
  const waitedMs = since === null ? 0 : Date.parse(await storeNow(unit.tx)) - Date.parse(since);
  if (waitedMs >= timeoutMinutes * MINUTE_MS) {
    await timeOut(unit, held, wait);
    return false;
  }
  if (await postponeMerge(unit, held, wait))
    await projectIssue(unit, { ...subject, pr: { ...pr, checks_wait: wait as never } });
  return true;
}

/** Time after which the merge of a draft is tried again, in case the report that it is none any more was lost. */
const DRAFT_RETRY_MS = HOUR_MS;

/** Holds the merge of a draft, without a limit of time and without a task, until a person marks it as ready for review. */
export async function holdDraft(unit: TransactionContext, held: HeldMerge, sha: string): Promise<void> {
  const { subject } = held;
  const { pr } = subject;
  if (!pr.draft) await updatePullRequest(unit.tx, unit.tenantId, pr.id, { draft: true });
  const wait: ChecksWait = { sha, verdict: 'draft', waitsFor: [] };
  if (!(await postponeMerge(unit, held, wait, DRAFT_RETRY_MS))) return;
  await projectIssue(unit, { ...subject, pr: { ...pr, checks_wait: wait as never } });
}

/**
 * Makes the entry due again after a delay, and records its reason.
 * @param delayMs default `checks.pollSeconds`.
 * @returns whether the reason is new.
 */
export async function postponeMerge(
  unit: TransactionContext,
  { subject: { pr }, projection, mayHaveHappened }: HeldMerge,
  wait: ChecksWait | null,
  delayMs = unit.settings.checks.pollSeconds * SECOND_MS,
): Promise<boolean> {
  await postponeProjection(unit.tx, unit.tenantId, projection.id, {
    attempts: projection.attempts,
    attempt_started_at: mayHaveHappened ? projection.attempt_started_at : null,
    error: null,
    delayMs,
  });
  const known = pr.checks_wait as ChecksWait | null;
  // The checks of a head are run again once, whatever it waits for meanwhile.
  const asked = wait?.rerun ?? (known?.sha === wait?.sha ? known?.rerun : undefined);
  const next = wait && { ...wait, ...(asked && { rerun: asked }) };
  if (isDeepStrictEqual(known, next)) return false;
  await setChecksWait(unit.tx, unit.tenantId, pr.id, next);
  return true;
}

const isOfQueue = ({ verdict }: ChecksWait): boolean => verdict === 'queue';

async function timeOut(unit: TransactionContext, held: HeldMerge, wait: ChecksWait): Promise<void> {
  const { subject } = held;
  const lastError = timeOutText(wait, unit.settings.checks.timeoutMinutes);
  await endWaiting(unit, held, lastError);
  await moveBy(unit, subject, {
    cause: { trigger: 'exhausted', blockReason: 'ci_timeout' },
    actor: { ...ENGINE, reason: lastError },
    stop: { blockClassification: 'unknown', lastError },
  });
}

function timeOutText({ verdict, sha, waitsFor }: ChecksWait, minutes: number): string {
  if (verdict === 'missing') return `No check was reported for ${sha} within ${minutes} minutes.`;
  if (verdict === 'queue') return `The merge queue of the host did not merge ${sha} within ${minutes} minutes.`;
  return `These checks of ${sha} were not green within ${minutes} minutes: ${namedChecks(waitsFor)}.`;
}

/** The merge is not wanted any more: its entry is discarded, and the pull request waits for nothing. */
export async function endWaiting(
  unit: TransactionContext,
  { subject, projection }: { subject: IssueContext; projection: ProjectionRow },
  error: string,
): Promise<void> {
  const settled = { status: 'discarded', attempt_started_at: null, retry_after: null, error } as const;
  await updateProjection(unit.tx, unit.tenantId, projection.id, settled);
  if (subject.pr) await setChecksWait(unit.tx, unit.tenantId, subject.pr.id, null);
}
