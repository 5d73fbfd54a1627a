import { type Kysely, sql } from 'kysely';

/** A tenant's spending is the sum of its cost events; of its days, what was reported of their budgets is left. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`drop index pipeline.daily_spend_by_day`.execute(db);
  await sql`alter table pipeline.daily_spend drop column spent_usd`.execute(db);
  await sql`alter table pipeline.daily_spend drop column last_repo_id`.execute(db);
  await sql`alter table pipeline.daily_spend rename to budget_days`.execute(db);
  await sql`alter index pipeline.daily_spend_told rename to budget_days_told`.execute(db);
  await sql`alter index pipeline.daily_spend_pkey rename to budget_days_pkey`.execute(db);
}
