import { sql } from 'kysely';
import type { Db } from '../driver/database.ts';
import { type Claimed, claimedRows } from './claim-statement.ts';
import { type ClaimInput, claimStatements, runClaim } from './claiming.ts';

const statements = claimStatements<object, Claimed>('claim-task', (p) => ({
  ctes: sql`ready as materialized (
    select n, worker_id, hash from unnest((select ${p('workerIds')}::text[]), (select ${p('tokenHashes')}::text[]))
      with ordinality as claimer (worker_id, hash, n)
  )`,
  agents: sql`select ${p('agents')}::text[]`,
  answer: sql`${claimedRows} order by priority, run_id`,
}));

/**
 * Claims the next tasks, at most one per claimer: lowest priority number first, then turn. One statement: per wanted
 * type and agent (and repo, for restricted workers) one index scan that skips locked rows, so its cost does not grow with the
 * backlog. Inserts each claim's run and event in the same statement.
 * @throws RangeError for more than MAX_CLAIMERS claimers.
 */
export function claimTasks(db: Db, tenantId: number, input: ClaimInput): Promise<Claimed[]> {
  return runClaim(statements, db, { tenantId, input, more: {} });
}
