import { formatSlug, presentStatus, type WorkerStatus } from '@pipeline/domain';
import {
  closePeriods,
  type HeldTask,
  heldByWorker,
  lockWorker,
  openPeriod,
  retireWorker,
  setPresence,
  updateWorker,
  type WorkerRow,
} from '@pipeline/store';
import type { TransactionContext } from '../context/context.ts';
import { emit } from '../records/records.ts';

/** One function per fact: a worker's status is written to the live stream in the transaction that changes it. */
function publishStatus(
  unit: TransactionContext,
  worker: WorkerRow,
  status: WorkerStatus,
  task: HeldTask | null = null,
): void {
  emit(unit, 'worker-status', {
    workerId: worker.id,
    repo: task ? formatSlug(task) : onlyRepo(worker),
    status,
    issueNumber: task?.issue_number || null,
    taskType: task?.task_type ?? null,
  });
}

/** Returns the only repo a worker serves; null when it serves several, or all repos of its tenant. */
const onlyRepo = ({ repos }: WorkerRow): string | null =>
  new Set(repos.map((slug) => slug.toLowerCase())).size === 1 ? (repos[0] ?? null) : null;

interface StatusUpdate {
  /** The workers themselves sent a request; otherwise offline ones stay offline. */
  alive: boolean;
  /** True = they report that they end with the current task; null = unchanged. */
  finishing?: boolean | null;
}

/** A locked worker with the oldest task that it holds at the end of the transaction, read after its lock; null = none. */
export interface WorkerAtWork {
  worker: WorkerRow;
  held: HeldTask | null;
}

/**
 * Updates the status of locked workers from their tasks and drain flags. Called wherever those change, once for each
 * worker of a transaction.
 * @returns them as they are then.
 */
export async function updatePresence(
  unit: TransactionContext,
  workers: readonly WorkerAtWork[],
  { alive, finishing = null }: StatusUpdate,
): Promise<WorkerRow[]> {
  const present = workers.filter(({ worker }) => alive || worker.status !== 'offline');
  const after = present.map(({ worker, held }) => {
    const ends = finishing ?? worker.finishing;
    const status = presentStatus({ draining: worker.draining || ends, busy: held !== null });
    return { worker: { ...worker, status, finishing: ends }, before: worker, held };
  });
  await setPresence(
    unit.tx,
    unit.tenantId,
    after.map(({ worker }) => worker),
    alive,
  );
  for (const { worker, before, held } of after) {
    if (before.status === 'offline') await recordReturn(unit, worker.id);
    if (worker.status !== before.status) publishStatus(unit, worker, worker.status, held);
  }
  const absent = workers.filter((each) => !present.includes(each));
  return [...after, ...absent].map(({ worker }) => worker);
}

/**
 * The same for a worker that is not locked yet; last in the transaction, as the locks of workers come after all others.
 * @returns undefined for a worker that is unknown.
 */
export async function updateWorkerStatus(
  unit: TransactionContext,
  workerId: string,
  heard: StatusUpdate,
): Promise<WorkerRow | undefined> {
  const { tx, tenantId } = unit;
  const [worker, held] = await Promise.all([lockWorker(tx, tenantId, workerId), heldByWorker(tx, tenantId, workerId)]);
  if (!worker) return undefined;
  const [after] = await updatePresence(unit, [{ worker, held }], heard);
  return after;
}

async function recordReturn(unit: TransactionContext, workerId: string): Promise<void> {
  await closePeriods(unit.tx, unit.tenantId, workerId, { kinds: ['silent'] });
  await openPeriod(unit.tx, unit.tenantId, workerId, { kind: 'online' });
}

/** A worker was registered; `before` is its previous locked row. Its previous tasks are reclaimed elsewhere. */
export async function recordRegistration(
  unit: TransactionContext,
  worker: WorkerRow,
  before: WorkerRow | undefined,
): Promise<void> {
  const { tx, tenantId } = unit;
  if (before?.stalled_since) await closePeriods(tx, tenantId, worker.id, { kinds: ['stalled'] });
  if (!before || before.status === 'offline') await recordReturn(unit, worker.id);
  if (worker.status !== before?.status) publishStatus(unit, worker, worker.status);
}

/** A worker fell silent; it is locked. It was present until its last request. */
export async function recordSilence(unit: TransactionContext, worker: WorkerRow, offlineSince: string): Promise<void> {
  const { tx, tenantId } = unit;
  await updateWorker(tx, tenantId, worker.id, { status: 'offline', stalled_since: null });
  const end = worker.last_heartbeat_at;
  await closePeriods(tx, tenantId, worker.id, { kinds: ['online'], ...(end !== null && { at: end }) });
  await closePeriods(tx, tenantId, worker.id, { kinds: ['stalled'], at: offlineSince });
  await openPeriod(tx, tenantId, worker.id, { kind: 'silent', startedAt: offlineSince });
  publishStatus(unit, worker, 'offline');
}

/** A worker left, or was silent for so long that it counts as gone; it is locked. */
export async function recordDeparture(unit: TransactionContext, worker: WorkerRow): Promise<void> {
  await retireWorker(unit.tx, unit.tenantId, worker.id);
  await closePeriods(unit.tx, unit.tenantId, worker.id, { kinds: ['online', 'silent', 'stalled'] });
  if (worker.status !== 'offline') publishStatus(unit, worker, 'offline');
}

/** A task without progress was reclaimed from a worker, which counts as stalled until it has released it. */
export async function recordStall(unit: TransactionContext, workerId: string, since: string): Promise<void> {
  const { tx, tenantId } = unit;
  const worker = await lockWorker(tx, tenantId, workerId);
  if (!worker || worker.status === 'offline') return;
  await updateWorker(tx, tenantId, workerId, { stalled_since: since });
  await openPeriod(tx, tenantId, workerId, { kind: 'stalled', startedAt: since });
}

/** A stalled worker has released all reclaimed tasks. */
export async function recordRecovery(unit: TransactionContext, workerId: string): Promise<void> {
  const { tx, tenantId } = unit;
  if (!(await lockWorker(tx, tenantId, workerId))) return;
  await updateWorker(tx, tenantId, workerId, { stalled_since: null });
  await closePeriods(tx, tenantId, workerId, { kinds: ['stalled'] });
}
