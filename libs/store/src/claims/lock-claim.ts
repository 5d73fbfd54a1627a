import { type RawBuilder, sql } from 'kysely';
import { COLUMNS } from '../driver/database.generated.ts';
import type { Tx } from '../driver/database.ts';
import { columnsOf, partOf } from '../driver/fragments.ts';
import { type Params, prepared } from '../driver/prepared.ts';
import { AT_LOCK, type IssueRow } from '../issues/issues.ts';
import { IS_ALIVE, type RunRow } from '../queue/runs.ts';

/** The run of a claim and its issue, both locked. */
interface LockedClaim {
  run: RunRow;
  /** Undefined for a task without an issue. */
  issue: IssueRow | undefined;
}

const ISSUE = [...COLUMNS.issues, 'now', 'ms_in_state'];
const RUN = [...COLUMNS.runs, 'alive'];

const columns = (names: readonly string[]) => sql.join(names.map((name) => sql.ref(name)));

type Part = RawBuilder<unknown>;

/**
 * The count makes the runs wait for the locks of the issues. After a wait the rows are read again as they are then; what
 * else a claim depends on is read by a later statement, because this one would read it as it was before the wait.
 */
const locking = (tenantId: Part, { those, busy }: { those: Part; busy: Part }) => sql<Record<string, unknown>>`
    with issue as materialized (
      select ${columns(COLUMNS.issues)}, ${sql.join([...AT_LOCK])} from issues
      where tenant_id = ${tenantId} and id in (
        select issue_id from runs where tenant_id = ${tenantId} and claim_token_hash ${those})
      order by id for update ${busy}
    ), run as materialized (
      select ${columns(COLUMNS.runs)}, ${IS_ALIVE}
      from runs cross join (select count(*) from issue) issues_first
      where tenant_id = ${tenantId} and claim_token_hash ${those}
      order by id for update of runs ${busy}
    )
    select ${columnsOf('issue', ISSUE)}, ${columnsOf('run', RUN)} from run left join issue on issue.id = run.issue_id`;

const locked = prepared('lock-claim', (_db, p: Params<{ tenantId: number; tokenHash: string }>) =>
  locking(p('tenantId'), { those: sql`= ${p('tokenHash')}`, busy: sql`` }),
);
const lockedFree = prepared('lock-free-claims', (_db, p: Params<{ tenantId: number; tokenHashes: string[] }>) =>
  locking(p('tenantId'), {
    those: sql`in (select unnest((select ${p('tokenHashes')}::text[])))`,
    busy: sql`skip locked`,
  }),
);

/**
 * Locks the issue of a claim token, then its run: the first locks of every request of a worker about its task.
 * @returns undefined for an unknown token.
 */
export async function lockClaim(tx: Tx, tenantId: number, tokenHash: string): Promise<LockedClaim | undefined> {
  const row = await locked.first(tx, { tenantId, tokenHash });
  return row && claimOf(row);
}

/**
 * Locks the issues and runs of several claim tokens, each as `lockClaim` does, but waits for none: a claim whose issue or
 * run another transaction has locked is left out, and so is an unknown token. The caller holds no lock, so that it is
 * part of no deadlock.
 */
export async function lockFreeClaims(tx: Tx, tenantId: number, tokenHashes: readonly string[]): Promise<LockedClaim[]> {
  const claims = (await lockedFree.all(tx, { tenantId, tokenHashes: [...tokenHashes] })).map(claimOf);
  return claims.filter(({ run, issue }) => run.issue_id === null || issue);
}

const claimOf = (row: Readonly<Record<string, unknown>>): LockedClaim => ({
  run: partOf<RunRow>(row, 'run', RUN),
  issue: row.issue_id === null ? undefined : partOf<IssueRow>(row, 'issue', ISSUE),
});
