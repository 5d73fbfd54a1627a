import { type ExecuteResult, projectionDelayMs } from '@pipeline/domain';
import {
  beginAttempt,
  findProjection,
  insertAttempt,
  lockIssue,
  lockProjection,
  type ProjectionRow,
  postponeProjection,
  type RepoRow,
  repoById,
  type SendableProjection,
  sendableProjections,
  updateProjection,
} from '@pipeline/store';
import { type Engine, inTenant, type TransactionContext } from '../context/context.ts';
import { ENGINE, type IssueContext, issueContextOf } from '../context/issue-context.ts';
import { recordPipelineEvent } from '../records/records.ts';
import { isSeed, onSeeded } from '../tracks/seeds.ts';
import { onClosed, onCreatedIssue, onDeletedBranch, onMerged, onMergeRefused, onOpenedPullRequest } from './effects.ts';
import { deadLetterProjection } from './projection-dead-letters.ts';
import { actionNow } from './projection-intent.ts';

export interface Sending {
  projection: ProjectionRow;
  repo: RepoRow;
  /** An earlier attempt was interrupted or ended in doubt: the host may have executed it. */
  mayHaveHappened: boolean;
  /** Of the leader that began the attempt; null without one. */
  epoch: number | null;
}

/** The outbox entries that may be sent to this kind of host now: at most one per lane of an issue. One indexed read. */
export const sendable = (engine: Engine, clientType: string, limit: number): Promise<SendableProjection[]> =>
  sendableProjections(engine.store.fleet, clientType, limit);

/**
 * Begins an attempt of an entry: with the labels of the issue's current state, and, for a retried entry that was
 * executed before, with what the store still wants of it. An entry that is no longer wanted becomes complete.
 * @returns null when there is nothing to send: the entry is no longer pending, or became complete.
 */
export async function beginSending(engine: Engine, tenantId: number, id: number): Promise<Sending | null> {
  const epoch = engine.fence?.epoch ?? null;
  return inTenant(engine, tenantId, async (unit) => {
    const { tx } = unit;
    // Read under the lock: a pending comment may be rewritten until its attempt begins.
    const projection = await lockProjection(tx, tenantId, id);
    if (projection?.status !== 'pending') return null;
    const action = await actionNow(tx, projection);
    if (action === null) {
      await completeRepeated(unit, projection);
      return null;
    }
    if (!(await beginAttempt(tx, { tenantId, id, epoch }))) return null;
    const repo = await repoById(tx, tenantId, projection.repo_id);
    const mayHaveHappened = projection.attempt_started_at !== null;
    return { projection: { ...projection, action }, repo, mayHaveHappened, epoch };
  });
}

async function completeRepeated(unit: TransactionContext, { tenant_id, id }: ProjectionRow): Promise<void> {
  const done = { status: 'complete', attempt_started_at: null, retry_after: null, error: null } as const;
  await updateProjection(unit.tx, tenant_id, id, done);
  unit.notify('svc_projections');
}

/**
 * Records the result from the host and its consequences in one transaction: an opened pull request gets its review
 * task, a merge moves the issue to done, a refused merge sends it back. An entry that was discarded meanwhile stays
 * discarded, but a host fact is applied all the same. A second result for a settled entry changes nothing.
 */
export function settle(engine: Engine, sending: Sending, result: ExecuteResult): Promise<void> {
  const { tenant_id: tenantId, id } = sending.projection;
  return inTenant(engine, tenantId, async (unit) => {
    const seen = await findProjection(unit.tx, tenantId, id);
    if (!seen) return;
    const issue = seen.issue_id === null ? undefined : await lockIssue(unit.tx, tenantId, seen.issue_id);
    const projection = await lockProjection(unit.tx, tenantId, id);
    if (!projection) return;
    await insertAttempt(unit.tx, projection, result);
    // Two executors may have sent it, one of them after it lost the leader lock: the first result is final, and a host
    // fact applies also after a discard. A failure of a former leader does not affect the attempt of its successor.
    const late = projection.status !== 'pending' || projection.attempt_epoch !== sending.epoch;
    if (projection.status === 'complete' || (late && result.status !== 'ok')) return;
    const subject = issue ? await issueContextOf(unit, issue) : null;
    const { mayHaveHappened } = sending;
    await OUTCOME[result.status](unit, { subject, projection, mayHaveHappened, result: result as never });
    unit.notify('svc_projections');
  });
}

interface Settled<S extends ExecuteResult['status']> {
  /** Null for an issue without a record: the entry is settled, without consequences. */
  subject: IssueContext | null;
  projection: ProjectionRow;
  /** In doubt before this attempt; only a result of the write itself ends the doubt. */
  mayHaveHappened: boolean;
  result: Extract<ExecuteResult, { status: S }>;
}

const OUTCOME: { [S in ExecuteResult['status']]: (unit: TransactionContext, settled: Settled<S>) => Promise<void> } = {
  ok: onOk,
  refused: onRefused,
  'rate-limited': onRateLimited,
  failed: onFailed,
};

async function onOk(unit: TransactionContext, { subject, projection, result }: Settled<'ok'>): Promise<void> {
  await updateProjection(unit.tx, unit.tenantId, projection.id, {
    status: projection.status === 'discarded' ? 'discarded' : 'complete',
    attempts: projection.attempts + 1,
    attempt_started_at: null,
    retry_after: null,
    error: null,
    result: result.created as never,
  });
  const { action } = projection;
  if (action.type === 'createIssue' && isSeed(projection)) return onSeeded(unit, projection, action, result.created);
  // The label for intake of an unknown issue is on the host: the next poll admits it.
  if (!subject) return unit.notify('svc_cache');
  if (action.type === 'createPR') await onOpenedPullRequest(unit, subject, action, result.created);
  if (action.type === 'mergePR') await onMerged(unit, subject, action, result.created?.sha ?? null);
  if (action.type === 'deleteBranch') await onDeletedBranch(unit, subject);
  if (action.type === 'closeIssue') await onClosed(unit, subject, result.created);
  if (action.type === 'createIssue') await onCreatedIssue(unit, subject, action, result.created);
}

async function onRefused(unit: TransactionContext, { subject, projection, result }: Settled<'refused'>): Promise<void> {
  const { action } = projection;
  const answered = subject !== null && action.type === 'mergePR' && result.kind !== 'other';
  await updateProjection(unit.tx, unit.tenantId, projection.id, {
    // A merge that the host refuses with a reason is settled: the issue moves elsewhere and the lane is free.
    status: answered ? 'discarded' : 'failed',
    attempts: projection.attempts + 1,
    attempt_started_at: null,
    error: `${result.httpStatus}: ${result.message}`,
  });
  if (answered) await onMergeRefused(unit, subject, result);
  else await gaveUp(unit, subject, projection, result.message);
}

async function onRateLimited(unit: TransactionContext, settled: Settled<'rate-limited'>): Promise<void> {
  const { projection, mayHaveHappened, result } = settled;
  await updateProjection(unit.tx, unit.tenantId, projection.id, {
    attempt_started_at: mayHaveHappened ? projection.attempt_started_at : null,
    retry_after: result.retryAt,
    error: result.message,
  });
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
  await updateProjection(unit.tx, unit.tenantId, projection.id, { ...change, status: 'failed', retry_after: null });
  await gaveUp(unit, subject, projection, result.message);
}

async function gaveUp(
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
