import {
  agreesWithState,
  currentLabels,
  type HostIntent,
  type ProjectionAction,
  repeatedAction,
} from '@pipeline/domain';
import {
  type BegunAttempt,
  beginAttempt,
  completeWithoutAttempt,
  type Db,
  hasLaterProjection,
  hasSucceeded,
  type ProjectionRow,
  pullRequestsOf,
  type RepoRow,
  type SendableProjection,
  sendableProjections,
} from '@pipeline/store';
import { type Engine, inFencedTransaction, inTenant } from '../context/context.ts';

/** An attempt of an outbox entry that has begun. */
export interface Sending {
  projection: ProjectionRow;
  repo: RepoRow;
  /** An earlier attempt was interrupted or ended in doubt: the host may have executed it. */
  mayHaveHappened: boolean;
  /** Epoch of the leader that began the attempt; null without one. */
  epoch: number | null;
}

/** The outbox entries that may be sent to this kind of host now: at most one per lane of an issue. One indexed read. */
export const sendable = (engine: Engine, clientType: string, limit: number): Promise<SendableProjection[]> =>
  sendableProjections(engine.store.db, clientType, limit);

/**
 * Begins an attempt of an entry: with the labels of the issue's current state, and, for a retried entry that was
 * executed before, with what the store still wants of it. An entry that is no longer wanted becomes complete.
 * @returns null when there is nothing to send: the entry is no longer pending, or became complete.
 */
export async function beginSending(engine: Engine, tenantId: number, id: number): Promise<Sending | null> {
  const epoch = engine.term?.epoch ?? null;
  const begun = await inFencedTransaction(engine, (tx) => beginAttempt(tx, { tenantId, id, epoch }));
  if (!begun) return null;
  const { projection, repo } = begun;
  const action = await actionNow(engine.store.db, begun);
  if (action === null) {
    await completeUnwanted(engine, projection);
    return null;
  }
  const mayHaveHappened = projection.attempt_started_at !== null;
  return { projection: { ...projection, action }, repo, mayHaveHappened, epoch };
}

const completeUnwanted = (engine: Engine, { tenant_id, id }: ProjectionRow): Promise<void> =>
  inTenant(engine, tenant_id, async (unit) => {
    await completeWithoutAttempt(unit.tx, tenant_id, id);
    unit.notify('svc_projections');
  });

/**
 * The host write of a begun outbox entry if it is sent now; null = none. The issue is read without its lock: any change
 * of it queues its own entry behind this one, which is in doubt and no longer rewritten.
 */
async function actionNow(db: Db, { projection, issue }: BegunAttempt): Promise<ProjectionAction | null> {
  const { action, attempt_started_at } = projection;
  if (attempt_started_at !== null && (await hasSucceeded(db, projection))) {
    // An entry without a record: a label for intake, or an issue that a track creates.
    if (issue === null) return action.type === 'createIssue' ? null : action;
    return repeatedAction(action, await intentOf(db, projection, issue));
  }
  if (issue === null) return action;
  if (action.type === 'swapLabels') return currentLabels(action, issue);
  // The dead letter of a failed one may be retried when the issue has moved on.
  const isDone = action.type === 'closeIssue' || action.type === 'reopenIssue';
  return isDone && !agreesWithState(action, issue) ? null : action;
}

async function intentOf(
  db: Db,
  projection: ProjectionRow,
  issue: NonNullable<BegunAttempt['issue']>,
): Promise<HostIntent> {
  const [prs, hasLater] = await Promise.all([
    pullRequestsOf(db, projection.tenant_id, issue.id),
    hasLaterProjection(db, projection),
  ]);
  const closedPullRequests = prs
    .filter(({ state, merged }) => state === 'closed' && !merged)
    .map(({ number }) => number);
  return { ...issue, closedPullRequests, isNewestOfType: !hasLater };
}
