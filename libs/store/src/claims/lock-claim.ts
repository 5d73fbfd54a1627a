import { type RawBuilder, sql } from 'kysely';
import { COLUMNS } from '../driver/database.generated.ts';
import type { Tx } from '../driver/database.ts';
import { columnList, columnsOf, partOf } from '../driver/fragments.ts';
import { type Params, prepared } from '../driver/prepared.ts';
import { AT_LOCK, type IssueRow } from '../issues/issues.ts';
import { IS_ALIVE, type RunRow } from '../queue/runs.ts';
import type { WorkerRow } from '../workers/workers.ts';

/** The run of a claim and its issue, both locked. */
interface LockedClaim {
  run: RunRow;
  /** Worker token that registered the worker of the claim; null = it was not recorded. */
  tokenId: string | null;
  /** Undefined for a task without an issue. */
  issue: IssueRow | undefined;
}

/** The same with its worker, locked as well. */
interface LockedClaimAndWorker extends LockedClaim {
  worker: WorkerRow | undefined;
}

const ISSUE = [...COLUMNS.issues, 'now', 'ms_in_state', 'late_us'];
const RUN = [...COLUMNS.runs, 'alive'];

type Part = RawBuilder<unknown>;

interface Locking {
  /** The condition on the token. */
  those: Part;
  withWorker: boolean;
}

/** The locks of workers come after those of issues and runs, and in the order of their ids, like everywhere. */
const workerOf = (tenantId: Part): Part => sql`, worker as materialized (
      select ${columnList(COLUMNS.workers)} from workers cross join (select count(*) from run) runs_first
      where tenant_id = ${tenantId} and id in (select worker_id from run)
      order by id for update of workers
    )`;

/**
 * The counts make the runs wait for the locks of the issues, and the workers for both. After a wait the rows are read
 * again as they are then; what else a claim depends on is read by a later statement, because this one would read it as it
 * was before the wait.
 */
const locking = (tenantId: Part, { those, withWorker }: Locking) => sql<Record<string, unknown>>`
    with issue as materialized (
      select ${columnList(COLUMNS.issues)}, ${sql.join([...AT_LOCK])} from issues
      where tenant_id = ${tenantId} and id in (
        select issue_id from runs where tenant_id = ${tenantId} and claim_token_hash ${those})
      order by id for update
    ), run as materialized (
      select ${columnList(COLUMNS.runs)}, ${IS_ALIVE}
      from runs cross join (select count(*) from issue) issues_first
      where tenant_id = ${tenantId} and claim_token_hash ${those}
      order by id for update of runs
    )${withWorker ? workerOf(tenantId) : sql``}
    select (select w.token_id from workers w where w.tenant_id = ${tenantId} and w.id = run.worker_id) as token_id,
      ${columnsOf('issue', ISSUE)}, ${columnsOf('run', RUN)}${withWorker ? sql`, ${columnsOf('worker', COLUMNS.workers)}` : sql``}
    from run left join issue on issue.id = run.issue_id
    ${withWorker ? sql`left join worker on worker.id = run.worker_id` : sql``}`;

type ByToken = { tenantId: number; tokenHash: string };
type ByTokens = { tenantId: number; tokenHashes: string[] };

const among = (p: Params<ByTokens>) => sql`in (select unnest((select ${p('tokenHashes')}::text[])))`;

const locked = prepared('lock-claim', (_db, p: Params<ByToken>) =>
  locking(p('tenantId'), { those: sql`= ${p('tokenHash')}`, withWorker: false }),
);
const lockedToEnd = prepared('lock-claim-and-worker', (_db, p: Params<ByToken>) =>
  locking(p('tenantId'), { those: sql`= ${p('tokenHash')}`, withWorker: true }),
);
const lockedAll = prepared('lock-claims', (_db, p: Params<ByTokens>) =>
  locking(p('tenantId'), { those: among(p), withWorker: true }),
);

/**
 * Locks the issue of a claim token, then its run: the first locks of every request of a worker about its task.
 * @returns undefined for an unknown token.
 */
export async function lockClaim(tx: Tx, tenantId: number, tokenHash: string): Promise<LockedClaim | undefined> {
  const row = await locked.first(tx, { tenantId, tokenHash });
  return row && claimOf(row);
}

/** The same with the worker of the claim, for a request that changes what it does. */
export async function lockClaimAndWorker(
  tx: Tx,
  tenantId: number,
  tokenHash: string,
): Promise<LockedClaimAndWorker | undefined> {
  const row = await lockedToEnd.first(tx, { tenantId, tokenHash });
  return row && claimAndWorkerOf(row);
}

/** Locks the issues, runs and workers of several claim tokens, each kind in the order of ids. An unknown token has none. */
export async function lockClaims(
  tx: Tx,
  tenantId: number,
  tokenHashes: readonly string[],
): Promise<LockedClaimAndWorker[]> {
  return (await lockedAll.all(tx, { tenantId, tokenHashes: [...tokenHashes] })).map(claimAndWorkerOf);
}

const claimAndWorkerOf = (row: Readonly<Record<string, unknown>>): LockedClaimAndWorker => ({
  ...claimOf(row),
  worker: row.worker_id === null ? undefined : partOf<WorkerRow>(row, 'worker', COLUMNS.workers),
});

const claimOf = (row: Readonly<Record<string, unknown>>): LockedClaim => ({
  run: partOf<RunRow>(row, 'run', RUN),
  tokenId: row.token_id as string | null,
  issue: row.issue_id === null ? undefined : partOf<IssueRow>(row, 'issue', ISSUE),
});
