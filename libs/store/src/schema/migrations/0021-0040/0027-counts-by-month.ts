import { type Kysely, sql } from 'kysely';

/**
 * All-time totals are read by month: transitions and tasks are counted by day and month, no longer by hour, so that the
 * totals of the metrics cost the same after years. Existing counts are carried over.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await carryOver(db, { from: 'transition_hours', to: 'transition_counts', of: ['from_state', 'to_state'] });
  await carryOver(db, { from: 'task_hours', to: 'task_counts', of: ['event_type', 'task_type'] });
}

async function carryOver(
  db: Kysely<unknown>,
  { from, to, of }: { from: string; to: string; of: readonly [string, string] },
): Promise<void> {
  const [old, made] = [sql.ref(`pipeline.${from}`), sql.ref(`pipeline.${to}`)];
  const names = sql.join(of.map((name) => sql.ref(name)));
  const types = sql.join(of.map((name) => sql`${sql.ref(name)} text not null`));
  await sql`
    create table ${made} (
      tenant_id bigint not null, repo_id bigint not null, ${types}, grain text not null, at timestamptz not null,
      n bigint not null,
      primary key (tenant_id, repo_id, grain, at, ${names})
    ) with (fillfactor = 80)`.execute(db);
  for (const grain of ['day', 'month']) {
    await sql`
      insert into ${made} (tenant_id, repo_id, ${names}, grain, at, n)
      select tenant_id, repo_id, ${names}, ${sql.lit(grain)},
        date_trunc(${sql.lit(grain)}, hour at time zone 'UTC') at time zone 'UTC' as start, sum(n)
      from ${old} group by tenant_id, repo_id, ${names}, start`.execute(db);
  }
  await sql`drop table ${old}`.execute(db);
}
