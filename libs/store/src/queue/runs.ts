import { type ErrorClass, type TaskType, WORK_TASK_TYPES } from '@pipeline/domain';
import { type RawBuilder, type Selectable, sql } from 'kysely';
import { svcNow } from '../driver/clock.ts';
import { COLUMNS, type DB } from '../driver/database.generated.ts';
import type { Change, Db, Tx } from '../driver/database.ts';
import { jsonb } from '../driver/fragments.ts';
import { type Params, prepared, runPrepared } from '../driver/prepared.ts';
import { WORK_TYPES } from './work-types.ts';

/** A run under lock; `alive` = claimed and its lease not over, by the store's clock. */
export type RunRow = Selectable<DB['runs']> & { alive: boolean };

export const IS_ALIVE = sql<boolean>`status = 'claimed' and lease_expires_at > svc_now()`.as('alive');

const locked = prepared('lock-run', (db, p: Params<{ tenantId: number; runId: number }>) =>
  db
    .selectFrom('runs')
    .select(COLUMNS.runs)
    .select(IS_ALIVE)
    .where('tenant_id', '=', p('tenantId'))
    .where('id', '=', p('runId'))
    .forUpdate(),
);

export const lockRun = (tx: Tx, tenantId: number, runId: number): Promise<RunRow | undefined> =>
  locked.first(tx, { tenantId, runId });

/** Changes columns of a run whose row the caller has locked. */
export const updateRun = (tx: Tx, tenantId: number, runId: number, change: Change<'runs'>): Promise<void> =>
  runPrepared(
    tx,
    'update-run',
    tx.updateTable('runs').set(change).where('tenant_id', '=', tenantId).where('id', '=', runId),
  );

/** Withdraws a claim: its worker is notified at its next request. The caller has locked its task. */
export const cancelRun = (tx: Tx, tenantId: number, runId: number): Promise<void> =>
  updateRun(tx, tenantId, runId, { status: 'cancelled', finished_at: svcNow });

/** True for a run of a worker that this token registered; null = any token. */
export const isOfToken = (tenantId: RawBuilder<unknown>, tokenId: RawBuilder<unknown>) => sql<boolean>`
  exists (select from workers w where w.tenant_id = ${tenantId} and w.id = r.worker_id
    and (w.token_id is null or w.token_id = coalesce(${tokenId}::uuid, w.token_id)))`;

interface Extension {
  tenantId: number;
  taskIds: string[];
  tokenHashes: string[];
  tokenId: string | null;
  lease: string;
}

const extended = prepared(
  'extend-leases',
  (_db, p: Params<Extension>) => sql<{ task_id: string; lease_expires_at: string }>`
    with held as (
      update runs r set lease_expires_at = svc_now() + ${p('lease')}::interval
      from unnest((select ${p('taskIds')}::text[]), (select ${p('tokenHashes')}::text[])) as claim (task_id, token_hash)
      where r.tenant_id = ${p('tenantId')} and r.claim_token_hash = claim.token_hash and r.task_id::text = claim.task_id
        and r.status = 'claimed' and r.lease_expires_at > svc_now() and ${isOfToken(p('tenantId'), p('tokenId'))}
      returning r.id, r.task_id, r.lease_expires_at
    )
    update tasks t set lease_expires_at = h.lease_expires_at
    from held h
    where t.tenant_id = ${p('tenantId')} and t.id = h.task_id and t.run_id = h.id
    returning t.id as task_id, t.lease_expires_at`,
);

/**
 * Extends the leases of valid claims of a worker token (null = any), for task and run alike. Ids come from workers: an invalid UUID matches no task
 * and is no error.
 * @returns the ids of the extended tasks, and the end of their lease.
 */
export async function extendLeases(
  db: Db,
  tenantId: number,
  { claims, tokenId }: { claims: readonly { taskId: string; tokenHash: string }[]; tokenId: string | null },
  leaseMs: number,
): Promise<{ task_id: string; lease_expires_at: string }[]> {
  if (claims.length === 0) return [];
  return extended.all(db, {
    tenantId,
    taskIds: claims.map((claim) => claim.taskId),
    tokenHashes: claims.map((claim) => claim.tokenHash),
    tokenId,
    lease: `${leaseMs} ms`,
  });
}

interface StartedClaim {
  taskId: string;
  tokenHash: string;
  /** The worker token that presents it; null = any. */
  tokenId: string | null;
}

const started = prepared(
  'start-task',
  (_db, p: Params<StartedClaim & { tenantId: number }>) => sql<{ lease_expires_at: string }>`
    update tasks t set progress_at = svc_now(), started_at = least(t.started_at, svc_now())
    from runs r
    where r.tenant_id = ${p('tenantId')} and r.claim_token_hash = ${p('tokenHash')} and r.task_id::text = ${p('taskId')}
      and r.status = 'claimed' and r.lease_expires_at > svc_now() and ${isOfToken(p('tenantId'), p('tokenId'))}
      and t.tenant_id = ${p('tenantId')} and t.id = r.task_id and t.run_id = r.id
    returning r.lease_expires_at`,
);

/**
 * Records that work on a validly claimed task has begun; a repetition keeps the first start. Locks the task only: whatever
 * ends the claim meanwhile also deletes the task, or takes the run from it, and then nothing is recorded.
 * @returns undefined for a claim that is not valid; nothing was written then.
 */
export const startTask = (
  db: Db,
  tenantId: number,
  claim: StartedClaim,
): Promise<{ lease_expires_at: string } | undefined> => started.first(db, { tenantId, ...claim });

export type EndedRun = Pick<RunRow, 'attempt' | 'error_message' | 'outcome'>;

/**
 * The ended runs of a kind of task on an issue, newest first, for the next worker, which also needs the failures before
 * a block.
 */
export const endedRunsFor = (
  p: Params<{ tenantId: number; issueId: number | null; taskType: TaskType }>,
): RawBuilder<EndedRun> => sql`
  select attempt, error_message, outcome from runs
  where tenant_id = ${p('tenantId')} and issue_id = ${p('issueId')} and task_type = ${p('taskType')}
    and status <> 'claimed'
  order by id desc`;

export interface RunEnd {
  status: 'finished' | 'failed' | 'lost';
  outcome?: string;
  error?: { message: string; class: ErrorClass; fingerprint: string };
  /** The report that ended the run, and the response to it. */
  report?: { hash: string; answer: object };
}

/** The columns of a run that ends. */
export const closingRun = ({ status, outcome, error, report }: RunEnd): Change<'runs'> => ({
  status,
  outcome: outcome ?? null,
  error_message: error?.message ?? null,
  error_class: error?.class ?? null,
  error_fingerprint: error?.fingerprint ?? null,
  finished_at: svcNow,
  ...(report && { report_hash: report.hash, report_answer: jsonb(report.answer) as never }),
});

/** Counts earlier failures with the same error of tasks that move the issue. */
export async function countSameFailures(
  tx: Tx,
  tenantId: number,
  issueId: number,
  fingerprint: string,
): Promise<number> {
  const row = await tx
    .selectFrom('runs')
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .where('tenant_id', '=', tenantId)
    .where('issue_id', '=', issueId)
    .where('task_type', 'in', [...WORK_TASK_TYPES])
    .where('error_fingerprint', '=', fingerprint)
    .executeTakeFirstOrThrow();
  return row.n;
}

/** A withdrawn claim whose worker may still be working on the issue, and for how many milliseconds at most. */
export interface LingeringRun {
  id: number;
  left_ms: number;
}

export const lingeringOf = (
  issueId: RawBuilder<unknown>,
  tenantId: RawBuilder<unknown>,
): RawBuilder<LingeringRun> => sql`
  select id, (extract(epoch from (lease_expires_at - svc_now())) * 1000)::bigint as left_ms
  from runs
  where tenant_id = ${tenantId} and issue_id = ${issueId} and task_type in (${WORK_TYPES}) and status = 'cancelled'
    and lease_expires_at > svc_now()
  order by lease_expires_at desc limit 1`;

const lingering = prepared('lingering-run', (_db, p: Params<{ tenantId: number; issueId: number }>) =>
  lingeringOf(p('issueId'), p('tenantId')),
);

export const lingeringRun = (tx: Tx, tenantId: number, issueId: number): Promise<LingeringRun | undefined> =>
  lingering.first(tx, { tenantId, issueId });
