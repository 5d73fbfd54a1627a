import { type Kysely, sql } from 'kysely';

/** Tables that are computed again, from the first fact on. */
const ROLLUPS = ['state_minutes', 'stay_hours', 'transition_counts', 'task_counts', 'cost_sums', 'event_counts'];

/**
 * Rollups are made from rows that are some minutes old. A transition says what they need of its issue: when it was
 * admitted, and whether it enters the state for the first time. Writers append nothing for them, except the hour of a model
 * call that is reported again after it.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table pipeline.transitions add column admitted_at timestamptz`.execute(db);
  await sql`alter table pipeline.transitions add column is_first boolean`.execute(db);
  await describeMoves(db);
  await sql`alter table pipeline.transitions alter column admitted_at set not null`.execute(db);
  await sql`alter table pipeline.transitions alter column is_first set not null`.execute(db);
  await sql`drop table pipeline.rollup_deltas`.execute(db);
  await sql`drop sequence pipeline.rollup_delta_id_seq`.execute(db);
  await sql`drop table pipeline.rollup_checks`.execute(db);
  for (const table of ROLLUPS) await sql`truncate table pipeline.${sql.ref(table)}`.execute(db);
  // The end of what is in the rollups, for each kind of facts; without a row nothing is.
  await sql`create table pipeline.closed_facts (facts text primary key, until timestamptz not null)`.execute(db);
  await sql`create sequence pipeline.late_cost_id_seq`.execute(db);
  await sql`
    create table pipeline.late_costs (
      tenant_id bigint not null,
      id bigint not null default nextval('pipeline.late_cost_id_seq'),
      repo_id bigint not null,
      hour timestamptz not null,
      primary key (tenant_id, id)
    )`.execute(db);
  await sql`select pipeline.distribute_table('late_costs')`.execute(db);
}

/** Reads all transitions once. */
async function describeMoves(db: Kysely<unknown>): Promise<void> {
  await sql`
    update pipeline.transitions t set admitted_at = i.created_at, is_first = t.to_state <> 'new' and t.id = f.first_id
    from pipeline.issues i, (
      select tenant_id, issue_id, to_state, min(id) as first_id from pipeline.transitions group by 1, 2, 3
    ) f
    where i.tenant_id = t.tenant_id and i.id = t.issue_id
      and f.tenant_id = t.tenant_id and f.issue_id = t.issue_id and f.to_state = t.to_state`.execute(db);
}
