import { sql } from 'kysely';
import { msInterval, svcNow, svcNowPlus } from '../driver/clock.ts';
import type { Db, Tx } from '../driver/database.ts';
import { fleetNote } from '../driver/fragments.ts';
import { type Params, prepared } from '../driver/prepared.ts';

interface RepoKey {
  tenantId: number;
  repoId: number;
}

// A scan that was not started will include earlier merges: only a running scan, or none, makes another one due.
const want = prepared(
  'want-scan',
  (_db, p: Params<RepoKey>) => sql`
    insert into repo_scans (tenant_id, repo_id, due_at)
    select ${p('tenantId')}, ${p('repoId')}, svc_now()
    where not exists (
      select from tasks t
      where t.tenant_id = ${p('tenantId')} and t.repo_id = ${p('repoId')} and t.task_type = 'code-map-scan'
        and t.status = 'pending')
    on conflict (tenant_id, repo_id) do update set due_at = least(repo_scans.due_at, excluded.due_at)`,
);

/** Makes the next scan of a repo due now, because its code has changed. */
export async function wantScan(tx: Tx, tenantId: number, repoId: number): Promise<void> {
  await want.run(tx, { tenantId, repoId });
}

export interface DueScan {
  tenant_id: number;
  repo_id: number;
}

/**
 * Enabled repos that were never scanned or whose next scan is due, and that have no live scan: candidates, each is
 * taken by takeDueScan. One pass over the repos.
 */
export const dueScans = (fleet: Db, limit: number): Promise<DueScan[]> =>
  fleet
    .selectFrom('repos as r')
    .modifyFront(fleetNote('scans of every repo'))
    .leftJoin('repo_scans as s', (join) =>
      join.onRef('s.tenant_id', '=', 'r.tenant_id').onRef('s.repo_id', '=', 'r.id'),
    )
    .select(['r.tenant_id', 'r.id as repo_id'])
    .where('r.enabled', '=', true)
    .where((eb) => eb.or([eb('s.due_at', 'is', null), eb('s.due_at', '<=', svcNow)]))
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('tasks as t')
            .select('t.id')
            .whereRef('t.tenant_id', '=', 'r.tenant_id')
            .whereRef('t.repo_id', '=', 'r.id')
            .where('t.task_type', '=', 'code-map-scan'),
        ),
      ),
    )
    .orderBy('s.due_at', (order) => order.asc().nullsFirst())
    .limit(limit)
    .execute();

const take = prepared(
  'take-due-scan',
  (_db, p: Params<RepoKey & { everyMs: string }>) => sql<{ repo_id: number }>`
    insert into repo_scans (tenant_id, repo_id, due_at)
    select ${p('tenantId')}, ${p('repoId')}, svc_now() + ${p('everyMs')}::interval
    where not exists (
      select from tasks t
      where t.tenant_id = ${p('tenantId')} and t.repo_id = ${p('repoId')} and t.task_type = 'code-map-scan')
    on conflict (tenant_id, repo_id) do update set due_at = excluded.due_at, updated_at = excluded.updated_at
    where repo_scans.due_at <= excluded.updated_at
    returning repo_id`,
);

/**
 * Takes the due scan and schedules the next one `everyMs` later.
 * @returns false when it is no longer due, or one is in progress; otherwise the caller enqueues it.
 */
export async function takeDueScan(tx: Tx, { tenant_id, repo_id }: DueScan, everyMs: number): Promise<boolean> {
  const taken = await take.first(tx, { tenantId: tenant_id, repoId: repo_id, everyMs: `${everyMs} ms` });
  return taken !== undefined;
}

/** Records the result of a scan. */
export async function noteScan(
  tx: Tx,
  { tenantId, repoId }: RepoKey,
  found: { headSha: string | null; truncated: boolean; files: number; symbols: number },
): Promise<void> {
  await tx
    .updateTable('repo_scans')
    .set({
      scanned_at: svcNow,
      head_sha: found.headSha,
      truncated: found.truncated,
      file_count: found.files,
      symbol_count: found.symbols,
      updated_at: svcNow,
    })
    .where('tenant_id', '=', tenantId)
    .where('repo_id', '=', repoId)
    .execute();
}

/** Schedules the next scan after one was given up, unless it is due earlier. */
export async function retryScanIn(tx: Tx, { tenantId, repoId }: RepoKey, ms: number): Promise<void> {
  await tx
    .updateTable('repo_scans')
    .set({ due_at: svcNowPlus(ms), updated_at: svcNow })
    .where('tenant_id', '=', tenantId)
    .where('repo_id', '=', repoId)
    .where('due_at', '>', sql<string>`svc_now() + ${msInterval(ms)}`)
    .execute();
}
