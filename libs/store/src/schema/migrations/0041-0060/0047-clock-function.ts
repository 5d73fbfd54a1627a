import { type Kysely, sql } from 'kysely';

/**
 * Writes the store's clock in PL/pgSQL. The planner inlines a SQL function into its caller, and the COALESCE of the
 * previous body inside a write is what a distributed PostgreSQL refuses.
 *
 * PARALLEL SAFE and the low cost keep the plans of the inlined form: a function without them stops parallel scans and
 * counts as a hundred operators.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create or replace function pipeline.svc_now() returns timestamptz
    language plpgsql stable parallel safe cost 3 as $$
    declare
      held text := current_setting('svc.now', true);
    begin
      if held is null or held = '' then
        return now();
      end if;
      return held::timestamptz;
    end $$`.execute(db);
}
