import { randomUUID } from 'node:crypto';
import { type Claimed, claimTasks, type Db, jsonb } from '@pipeline/store';

const WORKER_ID = 'w';

/** A worker of a tenant, whose claims `claimFor` makes. */
export async function addWorker(db: Db, tenantId: number): Promise<void> {
  const now = new Date().toISOString();
  const lists = { repos: [], task_types: [], labels: jsonb({}) as never };
  await db
    .insertInto('workers')
    .values({
      ...lists,
      tenant_id: tenantId,
      id: WORKER_ID,
      name: 'w',
      hostname: 'h',
      version: '1',
      status: 'idle',
      registered_at: now,
    })
    .execute();
}

type Order = Pick<Parameters<typeof claimTasks>[2], 'taskTypes' | 'agents' | 'repoIds'>;

/** The tasks that so many claimers get. */
export async function claimFor(db: Db, tenantId: number, order: Order, limit: number): Promise<Claimed[]> {
  const claimers = Array.from({ length: limit }, () => ({
    workerId: WORKER_ID,
    tokenId: null,
    tokenHashes: [randomUUID()],
  }));
  const answers = await claimTasks(db, tenantId, { ...order, claimers, leaseMs: 60_000, isOpen: true });
  return answers.flatMap(({ task }) => task ?? []);
}
