import type { ExecuteResult, State } from '@pipeline/domain';
import { sql } from 'kysely';
import { svcNow } from '../driver/clock.ts';
import { COLUMNS } from '../driver/database.generated.ts';
import type { Db, Tx } from '../driver/database.ts';
import { columnList, columnsOf, partOf } from '../driver/fragments.ts';
import { type Params, prepared } from '../driver/prepared.ts';
import type { RepoRow } from '../repos/repos.ts';
import type { ProjectionRow } from './projections.ts';

interface Attempt {
  tenantId: number;
  /** Id of the entry. */
  id: number;
  /** Epoch of the leader that sends the entry; null without one. */
  epoch: number | null;
}

/** Columns of the issue of an entry. */
interface ShownIssue {
  id: number;
  state: State;
  isBlocked: boolean;
  isPaused: boolean;
  statusComment: string | null;
}

export interface BegunAttempt {
  /** Entry as it was before the attempt: with the start of an earlier one that was interrupted or ended in doubt. */
  projection: ProjectionRow;
  repo: RepoRow;
  /** Found by its number: the entry may have been queued before the issue had a record. Null = it has none. */
  issue: ShownIssue | null;
}

const begin = prepared(
  'begin-projection',
  (_db, p: Params<Attempt>) => sql<Record<string, unknown>>`
    with entry as (
      select ${columnList(COLUMNS.projections)} from projections
      where tenant_id = ${p('tenantId')} and id = ${p('id')} and status = 'pending'
        and (retry_after is null or retry_after <= svc_now())
      for update
    ), begun as (
      update projections
      set attempt_started_at = svc_now(), attempt_epoch = ${p('epoch')}
      where tenant_id = ${p('tenantId')} and id = (select id from entry)
    )
    select ${columnsOf('entry', COLUMNS.projections)}, ${columnsOf('repo', COLUMNS.repos)}, issue.id as shown_id,
      issue.state, issue.is_blocked, issue.is_paused, issue.status_comment_body
    from entry
    join repos repo on repo.tenant_id = ${p('tenantId')} and repo.id = entry.repo_id
    left join issues issue on issue.tenant_id = ${p('tenantId')} and issue.repo_id = entry.repo_id
      and issue.issue_number = entry.issue_number`,
);

/**
 * Locks a pending entry and marks it as being sent. `attempt_started_at` stays set until the result of the attempt is
 * known, so an entry that still has it was interrupted: the host may have executed it. The issue is read without a lock.
 * Cost: three primary keys, one unique index, one update that changes no index.
 * @returns undefined for an entry that is no longer pending, or was postponed meanwhile.
 */
export async function beginAttempt(tx: Tx, attempt: Attempt): Promise<BegunAttempt | undefined> {
  const row = await begin.first(tx, attempt);
  return (
    row && {
      projection: partOf<ProjectionRow>(row, 'entry', COLUMNS.projections),
      repo: partOf<RepoRow>(row, 'repo', COLUMNS.repos),
      issue: row.shown_id === null ? null : shownIssue(row),
    }
  );
}

const shownIssue = (row: Record<string, unknown>): ShownIssue => ({
  id: row.shown_id as number,
  state: row.state as State,
  isBlocked: row.is_blocked as boolean,
  isPaused: row.is_paused as boolean,
  statusComment: row.status_comment_body as string | null,
});

interface EndedAttempt {
  tenantId: number;
  id: number;
  startedAt: string | null;
  outcome: string;
  error: string;
}

const insertEnded = prepared('insert-projection-attempt', (db, p: Params<EndedAttempt>) =>
  db
    .insertInto('projection_attempts')
    .values({
      tenant_id: p('tenantId'),
      projection_id: p('id'),
      started_at: sql<string>`least(${p('startedAt')}::timestamptz, svc_now())`,
      finished_at: svcNow,
      outcome: p('outcome'),
      error: p('error'),
    })
    .onConflict((c) => c.columns(['tenant_id', 'projection_id', 'started_at']).doNothing()),
);

/** Records that the attempt that the locked entry names failed; a second record of it changes nothing. */
export async function insertFailedAttempt(
  tx: Tx,
  projection: ProjectionRow,
  { status: outcome, message: error }: Exclude<ExecuteResult, { status: 'ok' }>,
): Promise<void> {
  const { tenant_id: tenantId, id, attempt_started_at: startedAt } = projection;
  await insertEnded.run(tx, { tenantId, id, startedAt, outcome, error });
}

/** Returns whether an attempt of the entry succeeded: it is complete, or was before it was retried or discarded. */
export async function hasSucceeded(
  db: Db,
  { tenant_id, id }: Pick<ProjectionRow, 'tenant_id' | 'id'>,
): Promise<boolean> {
  const row = await db
    .selectFrom('projection_attempts')
    .select('projection_id')
    .where('tenant_id', '=', tenant_id)
    .where('projection_id', '=', id)
    .where('outcome', '=', 'ok')
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

const complete = prepared(
  'complete-projection',
  (_db, p: Params<{ tenantId: number; id: number; result: string | null }>) => sql`
    with entry as (
      select id, attempt_started_at from projections
      where tenant_id = ${p('tenantId')} and id = ${p('id')} for update
    ), attempt as (
      insert into projection_attempts (tenant_id, projection_id, started_at, finished_at, outcome)
      select ${p('tenantId')}, id, least(attempt_started_at, svc_now()), svc_now(), 'ok' from entry
      on conflict (tenant_id, projection_id, started_at) do nothing
    )
    update projections
    set status = case when status = 'discarded' then status else 'complete' end, attempts = attempts + 1,
      attempt_started_at = null, retry_after = null, error = null, result = ${p('result')}::jsonb, updated_at = svc_now()
    where tenant_id = ${p('tenantId')} and id = (select id from entry) and status <> 'complete'`,
);

interface ExecutedProjection {
  id: number;
  created: Extract<ExecuteResult, { status: 'ok' }>['created'];
}

/**
 * The host has executed this entry: records the attempt and completes the entry. A discarded one stays discarded, a
 * complete one unchanged. Outside of a transaction it is one by itself. Cost: its primary key, one update, one insert.
 */
export const completeProjection = (db: Db, tenantId: number, { id, created }: ExecutedProjection): Promise<void> =>
  complete.run(db, { tenantId, id, result: created === null ? null : JSON.stringify(created) });
