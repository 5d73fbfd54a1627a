import { sql } from 'kysely';
import { type BookedCall, byIndex, callsOf } from '../costs/invocations.ts';
import type { Tx } from '../driver/database.ts';
import { type Params, prepared } from '../driver/prepared.ts';
import { contextColumns, contextOf, type IssueContextRow, ownPr } from '../issues/issue-context.ts';
import { type HeldTask, heldBy } from '../workers/present-workers.ts';

/** Rows that the end of a claim depends on, beside its issue and its run. */
export interface ClaimContextRow {
  /** Context of the issue; a claim without an issue has only that of the repo. */
  context: IssueContextRow;
  /** Recorded values of each model call of the run, by index. */
  calls: Map<number, BookedCall>;
  /** The oldest task that its worker holds beside this one. */
  held: HeldTask | null;
}

const ofClaim = prepared(
  'claim-context',
  (_db, p: Params<{ tenantId: number; tokenHash: string }>) => sql<Record<string, unknown>>`
    select run.id as run_id, ${contextColumns(p('tenantId'), sql`run.issue_id`, sql`run.issue_number`)},
      (select json_agg(c) from (${callsOf(sql`run.id`, p('tenantId'))}) c) as calls,
      ${heldBy(sql`run.worker_id`, p('tenantId'), sql`array[run.id]`)} as held
    from runs run
    join repos repo on repo.tenant_id = ${p('tenantId')} and repo.id = run.repo_id
    ${ownPr(p('tenantId'), sql`run.issue_id`)}
    where run.tenant_id = ${p('tenantId')} and run.claim_token_hash = ${p('tokenHash')}`,
);

/**
 * Reads the context of a claim whose issue, run and worker are locked by earlier statements: eleven index probes.
 * @returns undefined for an unknown token.
 */
export async function contextOfClaim(
  tx: Tx,
  tenantId: number,
  tokenHash: string,
): Promise<ClaimContextRow | undefined> {
  const row = await ofClaim.first(tx, { tenantId, tokenHash });
  return row && aroundOf(row);
}

const aroundOf = (row: Readonly<Record<string, unknown>>): ClaimContextRow => ({
  context: contextOf(row),
  calls: byIndex((row.calls ?? []) as (BookedCall & { invocation_index: number })[]),
  held: row.held as HeldTask | null,
});
