import { DAY_MS, DEFAULT_WORKFLOW, HOUR_MS, MINUTE_MS, TASK_TYPES } from '@pipeline/domain';
import {
  type Db,
  ensureTenant,
  inTransaction,
  makeMonths,
  PARTITIONED,
  type PartitionedTable,
  seedWorkflow,
  upsertRepo,
} from '@pipeline/store';
import type { Draw } from './draw.ts';
import type { NewRow } from './insert-rows.ts';
import { insertRows } from './insert-rows.ts';
import { iso, type StoryRepo } from './story.ts';

export interface World {
  tenants: { id: number; externalId: string }[];
  repos: (StoryRepo & { tenant: string })[];
}

const WORKERS_OF_TENANT = 4;
const SILENT_MS = 10 * MINUTE_MS;
const CONDITIONS = [
  ['well', 80],
  ['draining', 8],
  ['silent', 6],
  ['stalled', 6],
] as const;

interface Extent {
  tenants: number;
  repos: number;
  start: Date;
  end: Date;
}

/** Tenants with their repos and workers. The last tenant has a repo of the same name as the first. */
export async function makeWorld(db: Db, draw: Draw, { tenants, repos, start, end }: Extent): Promise<World> {
  const world: World = { tenants: [], repos: [] };
  const workersOf = new Map<number, string[]>();
  for (let n = 1; n <= tenants; n += 1) {
    const externalId = `tenant-${n}`;
    const id = await ensureTenant(db, externalId);
    world.tenants.push({ id, externalId });
    workersOf.set(id, await makeWorkers(db, draw, { tenantId: id, start: start.getTime(), end: end.getTime() }));
  }
  await inTransaction(db, async (tx) => {
    for (let n = 0; n < repos; n += 1) {
      const tenant = world.tenants[n % tenants];
      if (!tenant) throw new Error('a history needs a tenant');
      const name = n === tenants - 1 && tenants > 1 && repos > tenants ? 'repo-1' : `repo-${n + 1}`;
      const slug = { owner: 'acme', name };
      const input = { slug, vcsHost: 'sandbox' as const, cloneUrl: '', defaultBranch: 'main', setupCommand: null };
      const row = await upsertRepo(tx, tenant.id, { ...input, poolSize: null, installationId: null, enabled: true });
      await seedWorkflow(tx, tenant.id, row.id, DEFAULT_WORKFLOW);
      world.repos.push({
        tenantId: tenant.id,
        tenant: tenant.externalId,
        id: row.id,
        ...slug,
        workerIds: workersOf.get(tenant.id) ?? [],
        lastNumber: 0,
      });
    }
  });
  return world;
}

interface Hand {
  tenantId: number;
  id: string;
  n: number;
  start: number;
  end: number;
  now: (typeof CONDITIONS)[number][0];
  leftAt: number | null;
}

function workerOf(draw: Draw, { tenantId, id, n, start, end, now, leftAt }: Hand): NewRow<'workers'> {
  const there = now === 'draining' ? 'draining' : draw.pick(['idle', 'busy'] as const);
  return {
    tenant_id: tenantId,
    id,
    name: `worker-${n}`,
    hostname: `host-${n}`,
    version: '1.0.0',
    repos: [],
    task_types: [...TASK_TYPES],
    labels: {},
    status: leftAt === null ? there : 'offline',
    draining: now === 'draining',
    finishing: false,
    registered_at: iso(start),
    last_heartbeat_at: iso(leftAt ?? end - (now === 'silent' ? SILENT_MS : 5_000)),
    stalled_since: now === 'stalled' ? iso(end - SILENT_MS) : null,
    left_at: leftAt === null ? null : iso(leftAt),
  };
}

/** The last worker of each tenant has left; each was silent or stalled now and then, and some are just now. */
async function makeWorkers(
  db: Db,
  draw: Draw,
  of: { tenantId: number; start: number; end: number },
): Promise<string[]> {
  const { tenantId, start, end } = of;
  const workers: NewRow<'workers'>[] = [];
  const periods: NewRow<'worker_periods'>[] = [];
  for (let n = 1; n <= WORKERS_OF_TENANT; n += 1) {
    const id = `wkr_${draw.uuid(start)}`;
    const leftAt = n === WORKERS_OF_TENANT ? end - DAY_MS / 2 : null;
    const now = leftAt === null ? draw.weighted(CONDITIONS) : 'well';
    workers.push(workerOf(draw, { tenantId, id, n, start, end, now, leftAt }));
    const period = (kind: 'online' | 'silent' | 'stalled', from: number, to: number | null) =>
      periods.push({
        tenant_id: tenantId,
        worker_id: id,
        kind,
        started_at: iso(from),
        ended_at: to === null ? null : iso(to),
      });
    period('online', start, leftAt);
    if (now === 'silent' || now === 'stalled') period(now, end - SILENT_MS, null);
    for (let at = start + draw.real() * 2 * DAY_MS; at + 2 * HOUR_MS < end; at += draw.around(3 * DAY_MS)) {
      period(draw.pick(['silent', 'stalled']), at, at + Math.min(draw.around(4 * MINUTE_MS), 2 * HOUR_MS));
    }
  }
  await inTransaction(db, async (tx) => {
    await insertRows(tx, 'workers', workers);
    await insertRows(tx, 'worker_periods', periods);
  });
  return workers.map((worker) => worker.id);
}

/** Months of the history for which no partition was made, as the service would have had them. */
export async function makePartitions(db: Db, start: Date, end: Date): Promise<void> {
  const months: string[] = [];
  for (let month = monthOf(start); month <= end.getTime(); month = monthOf(new Date(month), 1)) {
    months.push(iso(month).slice(0, 7));
  }
  for (const table of Object.keys(PARTITIONED) as PartitionedTable[]) await makeMonths(db, table, months);
}

const monthOf = (at: Date, ahead = 0): number => Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + ahead, 1);
