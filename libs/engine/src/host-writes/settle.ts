import { type ExecuteResult, MINUTE_MS, projectionDelayMs } from '@pipeline/domain';
import {
  completeProjection,
  contextAndTaskOfIssue,
  findProjection,
  hasLaterProjection,
  insertFailedAttempt,
  lockIssue,
  lockProjection,
  type ProjectionRow,
  postponeProjection,
  postponeRepoProjections,
  setChecksWait,
  updateProjection,
} from '@pipeline/store';
import { type Engine, inTenant, type TransactionContext } from '../context/context.ts';
import { type CurrentWork, ENGINE, type IssueContext, type OnIssue } from '../context/issue-context.ts';
import { onIssue } from '../context/load-issue.ts';
import { recordPipelineEvent } from '../records/records.ts';
import { isSeed, onSeeded } from '../tracks/seeds.ts';
import type { Sending } from './begin.ts';
import { applyEffects, hasEffects, onMergeRefused } from './effects.ts';
import { type HeldMerge, holdDraft, keepWaiting } from './merge-wait.ts';
import { deadLetterProjection } from './projection-dead-letters.ts';

/** Pause between two looks whether a repo can be reached again. */
const ACCESS_RETRY_MS = 2 * MINUTE_MS;

/**
 * Records the result from the host and its consequences in one transaction: an opened pull request gets its review
 * task, a merge moves the issue to done, a refused merge sends it back. An entry that was discarded meanwhile stays
 * discarded, but a host fact is applied all the same. A second result for a settled entry changes nothing. A success
 * from which nothing follows is one statement, which needs no lock of the issue.
 */
export async function settle(engine: Engine, sending: Sending, result: ExecuteResult): Promise<void> {
  const { tenant_id: tenantId, id, issue_id: issueId, action } = sending.projection;
  if (result.status === 'ok' && issueId !== null && !hasEffects(action))
    return completeProjection(engine.store.db, tenantId, { id, created: result.created });
  return inTenant(engine, tenantId, async (unit) => {
    const held = await lockEntry(unit, sending.projection);
    if (!held) return;
    const { projection, open } = held;
    await recordEnd(unit, projection, result);
    // Two executors may have sent it, one of them after it lost the leader lock: the first result is final, and a host
    // fact applies also after a discard. A failure of a former leader does not affect the attempt of its successor.
    const late = projection.status !== 'pending' || projection.attempt_epoch !== sending.epoch;
    if (projection.status === 'complete' || (late && result.status !== 'ok')) return;
    const { mayHaveHappened } = sending;
    if (open && (result.status !== 'ok' || hasEffects(projection.action)))
      unit.dirtyIssues.changed.add(open.subject.issue.id);
    const subject = open?.subject ?? null;
    const work = open?.work ?? null;
    await OUTCOME[result.status](unit, { subject, work, projection, mayHaveHappened, result: result as never });
  });
}

/** Records the attempt; after a success, the entry is complete with it. */
const recordEnd = ({ tx, tenantId }: TransactionContext, projection: ProjectionRow, result: ExecuteResult) =>
  result.status === 'ok'
    ? completeProjection(tx, tenantId, { id: projection.id, created: result.created })
    : insertFailedAttempt(tx, projection, result);

interface LockedEntry {
  projection: ProjectionRow;
  /** Null for an issue without a record. */
  open: OnIssue | null;
}

/** Locks the issue of an entry, then the entry and the work task, and reads what a decision depends on: one round trip. */
async function lockEntry(unit: TransactionContext, sent: ProjectionRow): Promise<LockedEntry | null> {
  const { tx, tenantId } = unit;
  // An issue without a record may have got one since the attempt began.
  const seen = sent.issue_id === null ? await findProjection(tx, tenantId, sent.id) : sent;
  if (!seen) return null;
  if (seen.issue_id === null) {
    const projection = await lockProjection(tx, tenantId, sent.id);
    return projection ? { projection, open: null } : null;
  }
  const [issue, projection, around] = await Promise.all([
    lockIssue(tx, tenantId, seen.issue_id),
    lockProjection(tx, tenantId, sent.id),
    contextAndTaskOfIssue(tx, tenantId, seen.issue_id),
  ]);
  if (!projection) return null;
  return { projection, open: issue && around ? onIssue(unit, issue, around) : null };
}

interface Settled<S extends ExecuteResult['status']> {
  /** Null for an issue without a record: the entry is settled, without consequences. */
  subject: IssueContext | null;
  /** Current work of that issue. */
  work: CurrentWork | null;
  projection: ProjectionRow;
  /** True = in doubt before this attempt; only a result of the write itself ends the doubt. */
  mayHaveHappened: boolean;
  result: Extract<ExecuteResult, { status: S }>;
}

const OUTCOME: { [S in ExecuteResult['status']]: (unit: TransactionContext, settled: Settled<S>) => Promise<void> } = {
  ok: onOk,
  refused: onRefused,
  'rate-limited': onRateLimited,
  queued: onQueued,
  'no-access': onNoAccess,
  failed: onFailed,
};

async function onOk(unit: TransactionContext, { subject, work, projection, result }: Settled<'ok'>): Promise<void> {
  const { action } = projection;
  if (action.type === 'createIssue' && isSeed(projection)) return onSeeded(unit, projection, action, result.created);
  // The label for intake of an unknown issue is on the host: the next poll admits it.
  if (!subject || !work)
    return action.type === 'swapLabels' || action.type === 'addLabels' ? unit.notify('svc_cache') : undefined;
  await applyEffects(unit, { subject, work }, action, result.created);
}

async function onRefused(unit: TransactionContext, settled: Settled<'refused'>): Promise<void> {
  const { subject, projection, mayHaveHappened, result } = settled;
  const { action } = projection;
  const isMerge = action.type === 'mergePR' || action.type === 'updateBranch';
  if (subject?.pr && action.type === 'mergePR') {
    const held = { subject: { ...subject, pr: subject.pr }, projection, mayHaveHappened };
    if (await holdRefused(unit, held, { sha: action.expectedHeadSha, result })) return;
  }
  const isUnwanted = subject?.issue.state !== 'merge-pending';
  const answered = subject !== null && isMerge && (result.kind !== 'other' || isUnwanted);
  const replaced = await isReplaced(unit, projection);
  await updateProjection(unit.tx, unit.tenantId, projection.id, {
    // A merge is settled, and its lane free, when the host refuses it with a reason, or when the issue left merge-pending
    // while an attempt was in doubt: the withdrawal then left the entry unchanged.
    status: answered || replaced ? 'discarded' : 'failed',
    attempts: projection.attempts + 1,
    attempt_started_at: null,
    error: `${result.httpStatus}: ${result.message}`,
  });
  if (subject?.pr && subject.pr.checks_wait !== null) await setChecksWait(unit.tx, unit.tenantId, subject.pr.id, null);
  if (answered) await onMergeRefused(unit, subject, result);
  else if (!replaced) await recordGivenUp(unit, subject, projection, result.message);
}

/** Keeps a refused merge waiting, where only time or a person can end the reason. @returns whether it waits. */
async function holdRefused(
  unit: TransactionContext,
  held: HeldMerge,
  { sha, result }: { sha: string; result: Settled<'refused'>['result'] },
): Promise<boolean> {
  if (result.kind === 'draft' && held.subject.issue.state === 'merge-pending') {
    await holdDraft(unit, held, sha);
    return true;
  }
  // The host requires a check that this identity may not read.
  if (result.kind !== 'checks') return false;
  await keepWaiting(unit, held, { sha, verdict: 'pending', waitsFor: [result.message] });
  return true;
}

/**
 * Returns whether a newer submission opens the pull request: one in doubt is not withdrawn when the newer one is
 * queued.
 */
const isReplaced = async ({ tx }: TransactionContext, projection: ProjectionRow): Promise<boolean> =>
  projection.action.type === 'createPR' && (await hasLaterProjection(tx, projection));

async function onRateLimited(unit: TransactionContext, settled: Settled<'rate-limited'>): Promise<void> {
  const { projection, mayHaveHappened, result } = settled;
  await updateProjection(unit.tx, unit.tenantId, projection.id, {
    attempt_started_at: mayHaveHappened ? projection.attempt_started_at : null,
    retry_after: result.retryAt,
    error: result.message,
  });
}

/** The next attempt asks the host what became of it. */
async function onQueued(unit: TransactionContext, settled: Settled<'queued'>): Promise<void> {
  const { subject, projection } = settled;
  const { action } = projection;
  if (!subject?.pr || action.type !== 'mergePR') throw new Error(`the host queued ${action.type}`);
  const held = { subject: { ...subject, pr: subject.pr }, projection, mayHaveHappened: true };
  await keepWaiting(unit, held, { sha: action.expectedHeadSha, verdict: 'queue', waitsFor: [] });
}

/** Every host write of the repo waits: each would get the same answer. */
async function onNoAccess(unit: TransactionContext, settled: Settled<'no-access'>): Promise<void> {
  const { projection, mayHaveHappened, result } = settled;
  await postponeProjection(unit.tx, unit.tenantId, projection.id, {
    attempts: projection.attempts,
    attempt_started_at: mayHaveHappened ? projection.attempt_started_at : null,
    error: result.message,
    delayMs: ACCESS_RETRY_MS,
  });
  const repo = { tenantId: unit.tenantId, repoId: projection.repo_id };
  await postponeRepoProjections(unit.tx, repo, { delayMs: ACCESS_RETRY_MS, error: result.message });
}

async function onFailed(unit: TransactionContext, settled: Settled<'failed'>): Promise<void> {
  const { subject, projection, mayHaveHappened, result } = settled;
  const change = {
    attempts: projection.attempts + 1,
    // Kept in doubt: the next attempt reads before it writes.
    attempt_started_at: result.ambiguous || mayHaveHappened ? projection.attempt_started_at : null,
    error: result.message,
  };
  if (change.attempts < projection.max_attempts) {
    const delayMs = projectionDelayMs(projection.attempts, unit.random());
    await postponeProjection(unit.tx, unit.tenantId, projection.id, { ...change, delayMs });
    return;
  }
  const replaced = await isReplaced(unit, projection);
  const status = replaced ? 'discarded' : 'failed';
  await updateProjection(unit.tx, unit.tenantId, projection.id, { ...change, status, retry_after: null });
  if (!replaced) await recordGivenUp(unit, subject, projection, result.message);
}

async function recordGivenUp(
  unit: TransactionContext,
  subject: IssueContext | null,
  projection: ProjectionRow,
  error: string,
): Promise<void> {
  const { type } = projection.action;
  const { repo_id, issue_number } = projection;
  recordPipelineEvent(unit, subject ?? { issue: { id: null, repo_id, issue_number: issue_number || null } }, {
    eventType: 'projection_failed',
    agent: ENGINE.type,
    payload: { projectionId: projection.id, type },
  });
  if (subject) await deadLetterProjection(unit, subject, projection, error);
}
