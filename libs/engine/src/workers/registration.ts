import { randomUUID } from 'node:crypto';
import { AppError, presentStatus } from '@pipeline/domain';
import { isLiveToken, lockWorkerByName, upsertWorker, type WorkerRow } from '@pipeline/store';
import { type Engine, inTenant, type TransactionContext } from '../context/context.ts';
import { isOwn } from '../presence/own-worker.ts';
import { recordRegistration } from '../presence/worker-status.ts';
import { reclaimAllOf } from '../queue/reclaim.ts';

interface Registration {
  name: string;
  hostname: string;
  version: string;
  repos: string[];
  taskTypes: string[];
  labels: Record<string, string>;
  /** Agents that the worker runs; absent = none. */
  agents?: string[];
  /** The presented token; absent for callers without one, such as tests. */
  tokenId?: string;
}

/**
 * Registers a worker by its name. A known name is the same worker after a restart: it keeps its id, and its previous
 * claims return to the queue immediately instead of after their lease. A name belongs to the token that registered it
 * until that token is revoked, because a registration under the name returns its claims.
 * @returns the worker's id.
 * @throws AppError INSUFFICIENT_SCOPE for the name of another token's worker.
 */
export async function registerWorker(engine: Engine, tenantId: number, input: Registration): Promise<string> {
  const worker = await inTenant(engine, tenantId, async (unit) => {
    const before = await lockWorkerByName(unit.tx, tenantId, input.name);
    if (before && !isOwn(before, input.tokenId)) await requireFreeName(unit, before);
    const status = presentStatus({ draining: before?.draining ?? false, busy: false });
    const worker = { ...input, id: `wkr_${randomUUID()}`, status, tokenId: input.tokenId ?? null };
    const row = await upsertWorker(unit.tx, tenantId, worker, before?.token_id ?? null);
    if (!row) throw taken(input.name);
    await recordRegistration(unit, row, before);
    return row;
  });
  await reclaimAllOf(engine, tenantId, worker.id, 'the worker was restarted');
  return worker.id;
}

async function requireFreeName({ tx }: TransactionContext, { name, token_id }: WorkerRow): Promise<void> {
  if (token_id !== null && (await isLiveToken(tx, token_id))) throw taken(name);
}

const taken = (name: string): AppError =>
  new AppError(
    'INSUFFICIENT_SCOPE',
    `The worker name ${name} belongs to another worker token. Take another name, or revoke that token first.`,
  );
