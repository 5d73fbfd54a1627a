import { type Kysely, sql } from 'kysely';
import { fingerprintOf0014 } from './0014-fingerprint.ts';

const BATCH = 1_000;

/** Issues by the error that stopped them, to find a whole group. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table pipeline.issues add column error_fingerprint text`.execute(db);
  await fill(db);
  // The state is not in it: an issue that moves on keeps its last error, and its update stays HOT.
  await sql`
    create index issues_of_error on pipeline.issues (error_fingerprint, tenant_id, repo_id, issue_number)
    where error_fingerprint is not null`.execute(db);
}

/** Messages repeat, so each is computed once. */
async function fill(db: Kysely<unknown>): Promise<void> {
  for (let after = ''; ; ) {
    const { rows } = await sql<{ last_error: string }>`
      select distinct last_error from pipeline.issues where last_error > ${after} order by 1 limit ${BATCH}`.execute(
      db,
    );
    if (rows.length === 0) return;
    const messages = rows.map((row) => row.last_error);
    await sql`
      update pipeline.issues i set error_fingerprint = e.fingerprint
      from unnest(${messages}::text[], ${messages.map(fingerprintOf0014)}::text[]) e (message, fingerprint)
      where i.last_error = e.message`.execute(db);
    after = messages.at(-1) ?? after;
  }
}
