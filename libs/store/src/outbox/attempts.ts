import type { ExecuteResult, State } from '@pipeline/domain';
import { type RawBuilder, sql } from 'kysely';
import { svcNow } from '../driver/clock.ts';
import { COLUMNS } from '../driver/database.generated.ts';
import type { Db, Tx } from '../driver/database.ts';
import { columnList, columnsOf, partOf } from '../driver/fragments.ts';
import { type Params, prepared } from '../driver/prepared.ts';
import type { RepoRow } from '../repos/repos.ts';
import type { ProjectionRow } from './projections.ts';

interface Attempts {
  tenantId: number;
  /** Ids of the entries. */
  ids: readonly number[];
  /** Epoch of the leader that sends the entries; null without one. */
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

/** A list of ids whose length is hidden from the planner, so that its plan is reused; it assumes ten. */
const listed = (ids: RawBuilder<unknown>) => sql`any((select ${ids}::bigint[])::bigint[])`;

// The limits keep the planner from joining in another order than by the entries.
const begin = prepared(
  'begin-projections',
  (_db, p: Params<Attempts>) => sql<Record<string, unknown>>`
    with entry as (
      select ${columnList(COLUMNS.projections)} from projections
      where tenant_id = ${p('tenantId')} and id = ${listed(p('ids'))} and status = 'pending'
        and (retry_after is null or retry_after <= svc_now())
      order by id for update
    ), begun as (
      update projections
      set attempt_started_at = svc_now(), attempt_epoch = ${p('epoch')}
      where tenant_id = ${p('tenantId')} and id = any(array(select id from entry))
    )
    select ${columnsOf('entry', COLUMNS.projections)}, ${columnsOf('repo', COLUMNS.repos)}, issue.id as shown_id,
      issue.state, issue.is_blocked, issue.is_paused, issue.status_comment_body
    from entry
    cross join lateral (
      select ${columnList(COLUMNS.repos)} from repos where tenant_id = ${p('tenantId')} and id = entry.repo_id limit 1
    ) repo
    left join lateral (
      select id, state, is_blocked, is_paused, status_comment_body from issues
      where tenant_id = ${p('tenantId')} and repo_id = entry.repo_id and issue_number = entry.issue_number limit 1
    ) issue on true`,
);

/**
 * Locks pending entries in the order of their ids and marks them as being sent. `attempt_started_at` stays set until the
 * result of the attempt is known, so an entry that still has it was interrupted: the host may have executed it. The issues
 * are read without a lock. Cost of an entry: three primary keys, one unique index, one update that changes no index.
 * @returns the entries without those that are no longer pending, or were postponed meanwhile.
 */
export async function beginAttempts(tx: Tx, attempts: Attempts): Promise<BegunAttempt[]> {
  const rows = await begin.all(tx, attempts);
  return rows.map((row) => ({
    projection: partOf<ProjectionRow>(row, 'entry', COLUMNS.projections),
    repo: partOf<RepoRow>(row, 'repo', COLUMNS.repos),
    issue: row.shown_id === null ? null : shownIssue(row),
  }));
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
  'complete-projections',
  (_db, p: Params<{ tenantId: number; ids: readonly number[]; results: readonly (string | null)[] }>) => sql`
    with entry as (
      select id, attempt_started_at from projections
      where tenant_id = ${p('tenantId')} and id = ${listed(p('ids'))}
      order by id for update
    ), attempt as (
      insert into projection_attempts (tenant_id, projection_id, started_at, finished_at, outcome)
      select ${p('tenantId')}, id, least(attempt_started_at, svc_now()), svc_now(), 'ok' from entry
      on conflict (tenant_id, projection_id, started_at) do nothing
    )
    update projections p
    set status = case when p.status = 'discarded' then p.status else 'complete' end, attempts = p.attempts + 1,
      attempt_started_at = null, retry_after = null, error = null, result = executed.result::jsonb, updated_at = svc_now()
    from unnest((select ${p('ids')}::bigint[]), (select ${p('results')}::text[])) as executed (id, result)
    where p.tenant_id = ${p('tenantId')} and p.id = any(array(select id from entry)) and p.id = executed.id
      and p.status <> 'complete'`,
);

export interface ExecutedProjection {
  id: number;
  created: Extract<ExecuteResult, { status: 'ok' }>['created'];
}

/**
 * The host has executed these entries: records the attempts and completes the entries, which it locks in the order of their
 * ids. A discarded one stays discarded, a complete one unchanged. Outside of a transaction it is one by itself. Cost of an
 * entry: its primary key, one update, one insert.
 */
export async function completeProjections(
  db: Db,
  tenantId: number,
  executed: readonly ExecutedProjection[],
): Promise<void> {
  const results = executed.map(({ created }) => (created === null ? null : JSON.stringify(created)));
  await complete.run(db, { tenantId, ids: executed.map(({ id }) => id), results });
}
