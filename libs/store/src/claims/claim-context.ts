import { type RawBuilder, sql } from 'kysely';
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
  /** The oldest task that its worker holds beside those whose claims are read here. */
  held: HeldTask | null;
}

type Part = RawBuilder<unknown>;

const runsOf = (tenantId: Part, those: Part) => sql`array(
        select e.id from runs e where e.tenant_id = ${tenantId} and e.claim_token_hash ${those})`;

const around = (tenantId: Part, those: Part) => sql<Record<string, unknown>>`
    select run.id as run_id, ${contextColumns(tenantId, sql`run.issue_id`, sql`run.issue_number`)},
      (select json_agg(c) from (${callsOf(sql`run.id`, tenantId)}) c) as calls,
      ${heldBy(sql`run.worker_id`, tenantId, runsOf(tenantId, those))} as held
    from runs run
    join repos repo on repo.tenant_id = ${tenantId} and repo.id = run.repo_id
    ${ownPr(tenantId, sql`run.issue_id`)}
    where run.tenant_id = ${tenantId} and run.claim_token_hash ${those}`;

const ofClaim = prepared('claim-context', (_db, p: Params<{ tenantId: number; tokenHash: string }>) =>
  around(p('tenantId'), sql`= ${p('tokenHash')}`),
);
const ofClaims = prepared('claim-contexts', (_db, p: Params<{ tenantId: number; tokenHashes: string[] }>) =>
  around(p('tenantId'), sql`in (select unnest((select ${p('tokenHashes')}::text[])))`),
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

/** The same for several tokens, by the id of the run; an unknown token has none. */
export async function contextsOfClaims(
  tx: Tx,
  tenantId: number,
  tokenHashes: readonly string[],
): Promise<Map<number, ClaimContextRow>> {
  const rows = await ofClaims.all(tx, { tenantId, tokenHashes: [...tokenHashes] });
  return new Map(rows.map((row) => [row.run_id as number, aroundOf(row)]));
}

const aroundOf = (row: Readonly<Record<string, unknown>>): ClaimContextRow => ({
  context: contextOf(row),
  calls: byIndex((row.calls ?? []) as (BookedCall & { invocation_index: number })[]),
  held: row.held as HeldTask | null,
});
