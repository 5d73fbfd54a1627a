import { slugKey, type TaskType } from '@pipeline/domain';
import { sql } from 'kysely';
import type { Db } from '../driver/database.ts';
import { fleetNote } from '../driver/fragments.ts';
import type { RepoRow } from './repos.ts';

interface ServerFacts {
  /** `server_version_num`: 170002 = 17.2. */
  version: number;
  /** The data directory of a server on the client's machine; null = elsewhere, or this role may not read it. */
  localDataDirectory: string | null;
}

/** The version of the server, and its data directory where the client can reach it. */
export async function readServerFacts(fleet: Db): Promise<ServerFacts> {
  const { rows } = await sql<ServerFacts>`
    select current_setting('server_version_num')::int as version,
      (select setting from pg_settings where name = 'data_directory'
        and inet_server_addr() is not distinct from inet_client_addr()) as "localDataDirectory"`.execute(fleet);
  const [facts] = rows;
  if (!facts) throw new Error('the server reported no version');
  return facts;
}

/**
 * Seconds since the last webhook delivery about an issue, pull request or commit of a repo; null = the inbox has none.
 * One pass over the inbox, which is pruned.
 */
export async function lastDeliveryAge(fleet: Db, repo: Pick<RepoRow, 'owner' | 'name'>): Promise<number | null> {
  const { rows } = await sql<{ age: number | null }>`
    ${fleetNote('a delivery is stored before its tenant is known')}
    select extract(epoch from svc_now() - max(received_at))::float8 as age
    from webhook_deliveries where starts_with(lane, ${`${slugKey(repo)}#`})`.execute(fleet);
  return rows[0]?.age ?? null;
}

/** Names of the checks that were reported for a repo in the last 30 days, at most 100. One pass over its checks. */
export async function recentCheckNames(
  db: Db,
  { tenant_id, id }: Pick<RepoRow, 'tenant_id' | 'id'>,
): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select distinct name from commit_checks
    where tenant_id = ${tenant_id} and repo_id = ${id} and reported_at > svc_now() - interval '30 days'
    order by name limit 100`.execute(db);
  return rows.map(({ name }) => name);
}

/** Number of workers that are online and accept tasks of a repo, by task type. */
export async function onlineWorkersByType(
  db: Db,
  repo: Pick<RepoRow, 'tenant_id' | 'owner' | 'name'>,
): Promise<Partial<Record<TaskType, number>>> {
  const { rows } = await sql<{ type: TaskType; n: number }>`
    select type, count(*)::int as n
    from workers w
    cross join lateral unnest(w.task_types) as type
    where w.tenant_id = ${repo.tenant_id} and w.left_at is null and w.status in ('idle', 'busy')
      and (w.repos = '{}' or exists (select from unnest(w.repos) as served where lower(served) = ${slugKey(repo)}))
    group by type`.execute(db);
  return Object.fromEntries(rows.map(({ type, n }) => [type, n]));
}
