import {
  agreesWithState,
  currentLabels,
  type ExecuteResult,
  type HostIntent,
  MINUTE_MS,
  type ProjectionAction,
  projectionDelayMs,
  repeatedAction,
} from '@pipeline/domain';
import {
  type BegunAttempt,
  beginAttempt,
  completeProjection,
  contextOfIssue,
  findProjection,
  hasLaterProjection,
  hasSucceeded,
  insertAttempt,
  lockIssue,
  lockProjection,
  type ProjectionRow,
  postponeProjection,
  postponeRepoProjections,
  pullRequestsOf,
  type SendableProjection,
  sendableProjections,
  setChecksWait,
  type Tx,
  updateProjection,
} from '@pipeline/store';
import { type Engine, inTenant, type TransactionContext } from '../context/context.ts';
import { ENGINE, type IssueContext } from '../context/issue-context.ts';
import { issueContextOf } from '../context/load-issue.ts';
import { recordPipelineEvent } from '../records/records.ts';
import { isSeed, onSeeded } from '../tracks/seeds.ts';
import { applyEffects, hasEffects, onMergeRefused } from './effects.ts';
import { keepWaiting } from './merge-wait.ts';
import { deadLetterProjection } from './projection-dead-letters.ts';
import type { Sending } from './sending.ts';

/** Pause between two looks whether a repo can be reached again. */
const ACCESS_RETRY_MS = 2 * MINUTE_MS;

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
    const begun = await beginAttempt(unit.tx, { tenantId, id, epoch });
    if (!begun) return null;
    const { projection, repo } = begun;
    const action = await actionNow(unit.tx, begun);
    if (action === null) {
      await completeRepeated(unit, projection);
      return null;
    }
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
  return inTenant(engine, sending.projection.tenant_id, async (unit) => {
    const held = await lockEntry(unit, sending.projection);
    if (!held) return;
    const { projection, subject } = held;
    unit.send(insertAttempt(unit.tx, projection, result));
    // Two executors may have sent it, one of them after it lost the leader lock: the first result is final, and a host
    // fact applies also after a discard. A failure of a former leader does not affect the attempt of its successor.
    const late = projection.status !== 'pending' || projection.attempt_epoch !== sending.epoch;
    if (projection.status === 'complete' || (late && result.status !== 'ok')) return;
    const { mayHaveHappened } = sending;
    if (subject && (result.status !== 'ok' || hasEffects(projection.action)))
      unit.dirtyIssues.changed.add(subject.issue.id);
    await OUTCOME[result.status](unit, { subject, projection, mayHaveHappened, result: result as never });
  });
}

/** Locks the issue of an entry, then the entry, and reads what a decision depends on: one round trip. */
async function lockEntry(
  unit: TransactionContext,
  sent: ProjectionRow,
): Promise<{ projection: ProjectionRow; subject: IssueContext | null } | null> {
  const { tx, tenantId } = unit;
  // An issue without a record may have got one since the attempt began.
  const seen = sent.issue_id === null ? await findProjection(tx, tenantId, sent.id) : sent;
  if (!seen) return null;
  if (seen.issue_id === null) {
    const projection = await lockProjection(tx, tenantId, sent.id);
    return projection ? { projection, subject: null } : null;
  }
  const key = { tenant_id: tenantId, repo_id: seen.repo_id, id: seen.issue_id, issue_number: seen.issue_number };
  const [issue, projection, rest] = await Promise.all([
    lockIssue(tx, tenantId, key.id),
    lockProjection(tx, tenantId, sent.id),
    contextOfIssue(tx, key),
  ]);
  return projection ? { projection, subject: issue ? issueContextOf(unit, issue, rest) : null } : null;
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
  queued: onQueued,
  'no-access': onNoAccess,
  failed: onFailed,
};

async function onOk(unit: TransactionContext, { subject, projection, result }: Settled<'ok'>): Promise<void> {
  unit.send(completeProjection(unit.tx, projection, result.created));
  const { action } = projection;
  if (action.type === 'createIssue' && isSeed(projection)) return onSeeded(unit, projection, action, result.created);
  // The label for intake of an unknown issue is on the host: the next poll admits it.
  if (!subject)
    return action.type === 'swapLabels' || action.type === 'addLabels' ? unit.notify('svc_cache') : undefined;
  await applyEffects(unit, subject, action, result.created);
}

async function onRefused(unit: TransactionContext, settled: Settled<'refused'>): Promise<void> {
  const { subject, projection, mayHaveHappened, result } = settled;
  const { action } = projection;
  const isMerge = action.type === 'mergePR' || action.type === 'updateBranch';
  if (subject?.pr && action.type === 'mergePR' && result.kind === 'checks') {
    // The host requires a check that this identity may not read.
    const held = { subject: { ...subject, pr: subject.pr }, projection, mayHaveHappened };
    const wait = { sha: action.expectedHeadSha, verdict: 'pending' as const, waitsFor: [result.message] };
    return keepWaiting(unit, held, wait);
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

/** Whether a newer submission opens the pull request: one in doubt is not withdrawn when the newer one is queued. */
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
  unit.send(postponeRepoProjections(unit.tx, repo, { delayMs: ACCESS_RETRY_MS, error: result.message }));
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

/**
 * The host write of an outbox entry if it is sent now; null = none. The issue is read without its lock: any change of
 * it queues its own entry behind this one.
 */
async function actionNow(tx: Tx, { projection, issue }: BegunAttempt): Promise<ProjectionAction | null> {
  const { action, attempt_started_at } = projection;
  if (attempt_started_at !== null && (await hasSucceeded(tx, projection))) {
    // An entry without a record: a label for intake, or an issue that a track creates.
    if (issue === null) return action.type === 'createIssue' ? null : action;
    return repeatedAction(action, await intentOf(tx, projection, issue));
  }
  if (issue === null) return action;
  if (action.type === 'swapLabels') return currentLabels(action, issue);
  // The dead letter of a failed one may be retried when the issue has moved on.
  const isDone = action.type === 'closeIssue' || action.type === 'reopenIssue';
  return isDone && !agreesWithState(action, issue) ? null : action;
}

async function intentOf(
  tx: Tx,
  projection: ProjectionRow,
  issue: NonNullable<BegunAttempt['issue']>,
): Promise<HostIntent> {
  const [prs, hasLater] = await Promise.all([
    pullRequestsOf(tx, projection.tenant_id, issue.id),
    hasLaterProjection(tx, projection),
  ]);
  const closedPullRequests = prs
    .filter(({ state, merged }) => state === 'closed' && !merged)
    .map(({ number }) => number);
  return { ...issue, closedPullRequests, isNewestOfType: !hasLater };
}
