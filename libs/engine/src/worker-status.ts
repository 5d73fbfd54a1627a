import { formatSlug, presentStatus, type WorkerStatus } from '@pipeline/domain';
import {
  claimsOfWorker,
  closePeriods,
  lockWorker,
  openPeriod,
  repoById,
  retireWorker,
  touchWorker,
  updateWorker,
  type WorkerRow,
} from '@pipeline/store';
import type { Unit } from './context.ts';
import { emit } from './records.ts';

type Claim = Awaited<ReturnType<typeof claimsOfWorker>>[number];

/** One function per fact: a status of a worker is told to the live stream in the transaction that changes it. */
async function tell(unit: Unit, worker: WorkerRow, status: WorkerStatus, claim?: Claim): Promise<void> {
  const [only, ...others] = worker.repos;
  const served = only !== undefined && others.length === 0 ? only : null;
  emit(unit, 'worker-status', {
    workerId: worker.id,
    repo: claim ? formatSlug(await repoById(unit.tx, unit.tenantId, claim.repo_id)) : served,
    status,
    issueNumber: claim?.issue_number || null,
    taskType: claim?.task_type ?? null,
  });
}

interface Heard {
  /** The worker itself was heard; otherwise one that is offline stays so. */
  alive: boolean;
  /** It says of itself that it ends with the work in hand. */
  finishing?: boolean;
}

/**
 * Brings a worker's status in line with what it holds and is told to do. Called wherever that changes, last in the
 * transaction: the worker's lock comes after all others.
 * @returns the worker under lock; undefined for one that is unknown.
 */
export async function reviewWorker(unit: Unit, workerId: string, heard: Heard): Promise<WorkerRow | undefined> {
  const { tx, tenantId } = unit;
  const [worker, claims] = await Promise.all([
    lockWorker(tx, tenantId, workerId),
    claimsOfWorker(tx, tenantId, workerId),
  ]);
  if (!worker || (!heard.alive && worker.status === 'offline')) return worker;
  const finishing = heard.finishing ?? worker.finishing;
  if (finishing !== worker.finishing) unit.send(updateWorker(tx, tenantId, workerId, { finishing }));
  const status = presentStatus({ draining: worker.draining || finishing, busy: claims.length > 0 });
  if (heard.alive) unit.send(touchWorker(tx, tenantId, workerId, status));
  else if (status !== worker.status) unit.send(updateWorker(tx, tenantId, workerId, { status }));
  if (worker.status === 'offline') await noteReturn(unit, workerId);
  if (status !== worker.status) await tell(unit, worker, status, claims[0]);
  return { ...worker, status, finishing };
}

async function noteReturn(unit: Unit, workerId: string): Promise<void> {
  await closePeriods(unit.tx, unit.tenantId, workerId, { kinds: ['silent'] });
  await openPeriod(unit.tx, unit.tenantId, workerId, { kind: 'online' });
}

/** A worker was registered; `before` is what was known of it, under lock. What it held is taken from it elsewhere. */
export async function noteRegistration(unit: Unit, worker: WorkerRow, before: WorkerRow | undefined): Promise<void> {
  const { tx, tenantId } = unit;
  if (before?.stalled_since) await closePeriods(tx, tenantId, worker.id, { kinds: ['stalled'] });
  if (!before || before.status === 'offline') await noteReturn(unit, worker.id);
  if (worker.status !== before?.status) await tell(unit, worker, worker.status);
}

/** A worker fell silent; it is locked. It was there until it was last heard. */
export async function noteSilence(unit: Unit, worker: WorkerRow, offlineSince: string): Promise<void> {
  const { tx, tenantId } = unit;
  await updateWorker(tx, tenantId, worker.id, { status: 'offline', stalled_since: null });
  const end = worker.last_heartbeat_at;
  await closePeriods(tx, tenantId, worker.id, { kinds: ['online'], ...(end !== null && { at: end }) });
  await closePeriods(tx, tenantId, worker.id, { kinds: ['stalled'], at: offlineSince });
  await openPeriod(tx, tenantId, worker.id, { kind: 'silent', startedAt: offlineSince });
  await tell(unit, worker, 'offline');
}

/** A worker left, or was silent for so long that it counts as gone; it is locked. */
export async function noteDeparture(unit: Unit, worker: WorkerRow): Promise<void> {
  await retireWorker(unit.tx, unit.tenantId, worker.id);
  await closePeriods(unit.tx, unit.tenantId, worker.id, { kinds: ['online', 'silent', 'stalled'] });
  if (worker.status !== 'offline') await tell(unit, worker, 'offline');
}

/** A task without progress was taken from a worker. It counts as stalled until it has let go of it. */
export async function noteStall(unit: Unit, workerId: string, since: string): Promise<void> {
  const { tx, tenantId } = unit;
  const worker = await lockWorker(tx, tenantId, workerId);
  if (!worker || worker.status === 'offline') return;
  await updateWorker(tx, tenantId, workerId, { stalled_since: since });
  await openPeriod(tx, tenantId, workerId, { kind: 'stalled', startedAt: since });
}

/** A worker that was stalled works on nothing that was taken from it. */
export async function noteRecovery(unit: Unit, workerId: string): Promise<void> {
  const { tx, tenantId } = unit;
  if (!(await lockWorker(tx, tenantId, workerId))) return;
  await updateWorker(tx, tenantId, workerId, { stalled_since: null });
  await closePeriods(tx, tenantId, workerId, { kinds: ['stalled'] });
}
