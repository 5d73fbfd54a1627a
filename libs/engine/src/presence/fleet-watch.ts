import { DAY_MS } from '@pipeline/domain';
import { lockWorker, type SilenceLimits, silenceOf, silentWorkers } from '@pipeline/store';
import { type Engine, inTenant } from '../context/context.ts';
import { countHandled } from '../context/handle-each.ts';
import { recordDeparture, recordSilence } from './worker-status.ts';

const BATCH = 500;
/** A worker that was silent for a day counts as gone, and leaves the floor. */
const GONE_MS = DAY_MS;

/**
 * Marks silent workers as offline, and those silent for a day as gone. Candidates are read without a lock and each is
 * checked again under its own, so any number of processes may run this.
 * @returns how many changed.
 */
export async function watchSilence(engine: Engine): Promise<number> {
  const limits = { offlineMs: engine.settings().workerSilenceMs, goneMs: GONE_MS };
  const silent = await silentWorkers(engine.store.db, limits, BATCH);
  return countHandled('silent workers', silent, ({ tenant_id, id }) => recordIfSilent(engine, tenant_id, id, limits));
}

function recordIfSilent(engine: Engine, tenantId: number, workerId: string, limits: SilenceLimits): Promise<boolean> {
  return inTenant(engine, tenantId, async (unit) => {
    const worker = await lockWorker(unit.tx, tenantId, workerId);
    const silence = await silenceOf(unit.tx, tenantId, workerId, limits);
    if (!worker || !silence || worker.left_at !== null || silence.offline_since === null) return false;
    const news = worker.status !== 'offline';
    if (news) await recordSilence(unit, worker, silence.offline_since);
    if (silence.gone) await recordDeparture(unit, { ...worker, status: 'offline' });
    return news || silence.gone;
  });
}
