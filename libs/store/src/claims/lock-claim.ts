import { sql } from 'kysely';
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

// The count makes the run wait for the issue's lock. After a wait both rows are read again as they are then; what else a
// claim depends on is read by a later statement, because this one would read it as it was before the wait.
const locked = prepared(
  'lock-claim',
  (_db, p: Params<{ tenantId: number; tokenHash: string }>) => sql<Record<string, unknown>>`
    with issue as materialized (
      select ${columns(COLUMNS.issues)}, ${sql.join([...AT_LOCK])} from issues
      where tenant_id = ${p('tenantId')} and id = (
        select issue_id from runs where tenant_id = ${p('tenantId')} and claim_token_hash = ${p('tokenHash')})
      for update
    ), run as materialized (
      select ${columns(COLUMNS.runs)}, ${IS_ALIVE}
      from runs cross join (select count(*) from issue) issue_first
      where tenant_id = ${p('tenantId')} and claim_token_hash = ${p('tokenHash')}
      for update of runs
    )
    select ${columnsOf('issue', ISSUE)}, ${columnsOf('run', RUN)} from run left join issue on true`,
);

/**
 * Locks the issue of a claim token, then its run: the first locks of every request of a worker about its task.
 * @returns undefined for an unknown token.
 */
export async function lockClaim(tx: Tx, tenantId: number, tokenHash: string): Promise<LockedClaim | undefined> {
  const row = await locked.first(tx, { tenantId, tokenHash });
  if (!row) return undefined;
  return {
    run: partOf<RunRow>(row, 'run', RUN),
    issue: row.issue_id === null ? undefined : partOf<IssueRow>(row, 'issue', ISSUE),
  };
}
