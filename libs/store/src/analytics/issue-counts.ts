import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../driver/database.ts';
import { fleetNote } from '../driver/fragments.ts';
import { type Params, prepared } from '../driver/prepared.ts';
import { inTransaction } from '../driver/transaction.ts';

/**
 * A reader that finds more pending deltas of a repo than this aggregates them, so that later pages do not pay for them.
 */
export const AGGREGATE_ABOVE = 10_000;

/**
 * The counters of one repo plus pending deltas, in one statement: rows (state, is_paused, is_blocked, n, writes,
 * unfolded). The sum of `writes` is the repo's revision.
 */
export const countsOf = (tenantId: RawBuilder<unknown>, repoId: RawBuilder<unknown>): RawBuilder<unknown> => sql`
  select c.state, c.is_paused, c.is_blocked, c.n, c.writes, 0 as unfolded from issue_counts c
  where c.tenant_id = ${tenantId} and c.repo_id = ${repoId}
  union all
  select d.state, d.is_paused, d.is_blocked, d.n, 1, 1 from issue_count_deltas d
  where d.tenant_id = ${tenantId} and d.repo_id = ${repoId}`;

const aggregate = prepared(
  'aggregate-issue-counts',
  (_db, p: Params<{ tenantId: number; repoId: number }>) => sql`
    with aggregated as (
      delete from issue_count_deltas where tenant_id = ${p('tenantId')} and repo_id = ${p('repoId')}
      returning state, is_paused, is_blocked, n
    )
    insert into issue_counts (tenant_id, repo_id, state, is_paused, is_blocked, n, writes)
    select ${p('tenantId')}, ${p('repoId')}, state, is_paused, is_blocked, sum(n), count(*)
    from aggregated group by state, is_paused, is_blocked
    on conflict (tenant_id, repo_id, state, is_paused, is_blocked) do update
    set n = issue_counts.n + excluded.n, writes = issue_counts.writes + excluded.writes`,
);

/** Applies the deltas of a repo to its counters. @returns false when another process is doing it. */
export function aggregateIssueCounts(tenant: Db, tenantId: number, repoId: number): Promise<boolean> {
  return inTransaction(tenant, async (tx) => {
    const { rows } = await sql<{ held: boolean }>`
      select pg_try_advisory_xact_lock(hashtextextended('pipeline.issue-counts', ${repoId})) as held`.execute(tx);
    if (rows[0]?.held !== true) return false;
    await aggregate.run(tx, { tenantId, repoId });
    return true;
  });
}

/** Repos with pending deltas, at most `limit`. Costs the deltas once. */
export async function unfoldedRepos(fleet: Db, limit: number): Promise<{ tenant_id: number; repo_id: number }[]> {
  const { rows } = await sql<{ tenant_id: number; repo_id: number }>`
    ${fleetNote('upkeep of every tenant')}
    select tenant_id, repo_id from issue_count_deltas group by tenant_id, repo_id limit ${limit}`.execute(fleet);
  return rows;
}
