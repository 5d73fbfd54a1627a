import { type Kysely, sql } from 'kysely';

/**
 * An unreported cost of a model call is null, and counted beside every sum of costs. Calls recorded before keep their 0:
 * whether it was reported is not known.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table pipeline.agent_invocations alter column cost_usd drop not null`.execute(db);
  // For the calls of the first hour of a window, which no sum by the hour covers.
  await sql`
    create index agent_invocations_unreported on pipeline.agent_invocations (tenant_id, created_at)
      where cost_usd is null`.execute(db);
  await sql`alter table pipeline.cost_sums add column unreported_costs bigint not null default 0`.execute(db);
  await sql`alter table pipeline.issues add column unreported_costs integer not null default 0`.execute(db);
}
