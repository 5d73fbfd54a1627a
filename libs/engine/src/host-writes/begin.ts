import {
  agreesWithState,
  currentLabels,
  type HostIntent,
  type ProjectionAction,
  repeatedAction,
} from '@pipeline/domain';
import {
  type BegunAttempt,
  beginAttempts,
  hasLaterProjection,
  hasSucceeded,
  isLeadershipLost,
  type ProjectionRow,
  pullRequestsOf,
  type SendableProjection,
  sendableProjections,
  type Tx,
  updateProjection,
} from '@pipeline/store';
import { batchedByEngine, servedApartIfFailed } from '../context/batched.ts';
import { type Engine, inTenant, type TransactionContext } from '../context/context.ts';
import type { Sending } from './sending.ts';

/** The outbox entries that may be sent to this kind of host now: at most one per lane of an issue. One indexed read. */
export const sendable = (engine: Engine, clientType: string, limit: number): Promise<SendableProjection[]> =>
  sendableProjections(engine.store.fleet, clientType, limit);

/**
 * Begins an attempt of an entry: with the labels of the issue's current state, and, for a retried entry that was
 * executed before, with what the store still wants of it. An entry that is no longer wanted becomes complete. Concurrent
 * calls for one tenant share a transaction.
 * @returns null when there is nothing to send: the entry is no longer pending, or became complete.
 */
export const beginSending = (engine: Engine, tenantId: number, id: number): Promise<Sending | null> =>
  begins(engine).submit({ tenantId, id }, String(tenantId));

interface Entry {
  tenantId: number;
  id: number;
}

const begins = batchedByEngine((engine, entries: readonly Entry[]) =>
  servedApartIfFailed(entries, (some) => beginTogether(engine, some), isLeadershipLost),
);

/** Begins attempts of entries of one tenant. */
function beginTogether(engine: Engine, entries: readonly Entry[]): Promise<(Sending | null)[]> {
  const tenantId = entries[0]?.tenantId ?? 0;
  const epoch = engine.fence?.epoch ?? null;
  return inTenant(engine, tenantId, async (unit) => {
    const begun = await beginAttempts(unit.tx, { tenantId, ids: entries.map(({ id }) => id), epoch });
    const byId = new Map(begun.map((each) => [each.projection.id, each]));
    const sendings: (Sending | null)[] = [];
    for (const { id } of entries) {
      const found = byId.get(id);
      // An entry that is named twice is sent once.
      byId.delete(id);
      sendings.push(found ? await sendingOf(unit, found, epoch) : null);
    }
    return sendings;
  });
}

async function sendingOf(unit: TransactionContext, begun: BegunAttempt, epoch: number | null): Promise<Sending | null> {
  const { projection, repo } = begun;
  const action = await actionNow(unit.tx, begun);
  if (action === null) {
    await completeRepeated(unit, projection);
    return null;
  }
  const mayHaveHappened = projection.attempt_started_at !== null;
  return { projection: { ...projection, action }, repo, mayHaveHappened, epoch };
}

async function completeRepeated(unit: TransactionContext, { tenant_id, id }: ProjectionRow): Promise<void> {
  const done = { status: 'complete', attempt_started_at: null, retry_after: null, error: null } as const;
  await updateProjection(unit.tx, tenant_id, id, done);
  unit.notify('svc_projections');
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
