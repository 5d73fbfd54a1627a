import type { ExecuteResult, State } from '@pipeline/domain';
import { sql } from 'kysely';
import { svcNow } from '../driver/clock.ts';
import { COLUMNS } from '../driver/database.generated.ts';
import type { Tx } from '../driver/database.ts';
import { columnsOf, partOf } from '../driver/fragments.ts';
import { type Params, prepared } from '../driver/prepared.ts';
import type { RepoRow } from '../repos/repos.ts';
import type { ProjectionRow } from './projections.ts';

interface Attempt {
  tenantId: number;
  id: number;
  /** Of the leader that sends the entry; null without one. */
  epoch: number | null;
}

/** What the store shows of the issue of an entry. */
interface ShownIssue {
  id: number;
  state: State;
  isBlocked: boolean;
  isPaused: boolean;
  statusComment: string | null;
}

export interface BegunAttempt {
  /** As it was before the attempt: with the start of an earlier one that was interrupted or ended in doubt. */
  projection: ProjectionRow;
  repo: RepoRow;
  /** Found by its number: the entry may have been queued before the issue had a record. Null = it has none. */
  issue: ShownIssue | null;
}

const columns = (names: readonly string[]) => sql.join(names.map((name) => sql.ref(name)));

// The limits keep the planner from joining in another order than by the entry.
const begin = prepared(
  'begin-projection',
  (_db, p: Params<Attempt>) => sql<Record<string, unknown>>`
    with entry as (
      select ${columns(COLUMNS.projections)} from projections
      where tenant_id = ${p('tenantId')} and id = ${p('id')} and status = 'pending'
        and (retry_after is null or retry_after <= svc_now())
      for update
    ), begun as (
      update projections p
      set attempt_started_at = svc_now(), attempt_epoch = ${p('epoch')}, updated_at = svc_now()
      from entry where p.tenant_id = ${p('tenantId')} and p.id = entry.id
    )
    select ${columnsOf('entry', COLUMNS.projections)}, ${columnsOf('repo', COLUMNS.repos)}, issue.id as shown_id,
      issue.state, issue.is_blocked, issue.is_paused, issue.status_comment_body
    from entry
    cross join lateral (
      select ${columns(COLUMNS.repos)} from repos where tenant_id = ${p('tenantId')} and id = entry.repo_id limit 1
    ) repo
    left join lateral (
      select id, state, is_blocked, is_paused, status_comment_body from issues
      where tenant_id = ${p('tenantId')} and repo_id = entry.repo_id and issue_number = entry.issue_number limit 1
    ) issue on true`,
);

/**
 * Locks a pending entry and marks it as being sent. `attempt_started_at` stays set until the result of the attempt is known, so
 * an entry that still has it was interrupted: the host may have executed it. The issue is read without a lock. Cost: three
 * primary keys, one unique index, one update.
 * @returns undefined when the entry is no longer pending, or was postponed meanwhile.
 */
export async function beginAttempt(tx: Tx, attempt: Attempt): Promise<BegunAttempt | undefined> {
  const row = await begin.first(tx, attempt);
  if (!row) return undefined;
  return {
    projection: partOf<ProjectionRow>(row, 'entry', COLUMNS.projections),
    repo: partOf<RepoRow>(row, 'repo', COLUMNS.repos),
    issue: row.shown_id === null ? null : shownIssue(row),
  };
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
  error: string | null;
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

/** Records the end of the attempt that the locked entry names; a second record of it changes nothing. */
export async function insertAttempt(tx: Tx, projection: ProjectionRow, result: ExecuteResult): Promise<void> {
  const { tenant_id: tenantId, id, attempt_started_at: startedAt } = projection;
  const error = result.status === 'ok' ? null : result.message;
  await insertEnded.run(tx, { tenantId, id, startedAt, outcome: result.status, error });
}

/** Whether an attempt of the entry succeeded: it is complete, or was before it was retried or discarded. */
export async function hasSucceeded(
  tx: Tx,
  { tenant_id, id }: Pick<ProjectionRow, 'tenant_id' | 'id'>,
): Promise<boolean> {
  const row = await tx
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
  (db, p: Params<{ tenantId: number; id: number; result: string | null }>) =>
    db
      .updateTable('projections')
      .set({
        status: sql<'complete'>`case when status = 'discarded' then status else 'complete' end`,
        attempts: sql<number>`attempts + 1`,
        attempt_started_at: null,
        retry_after: null,
        error: null,
        result: sql`${p('result')}::jsonb`,
        updated_at: svcNow,
      })
      .where('tenant_id', '=', p('tenantId'))
      .where('id', '=', p('id')),
);

/** The host has executed the entry, which the caller has locked; a discarded one stays discarded. */
export async function completeProjection(
  tx: Tx,
  { tenant_id: tenantId, id }: ProjectionRow,
  created: Extract<ExecuteResult, { status: 'ok' }>['created'],
): Promise<void> {
  await complete.run(tx, { tenantId, id, result: created === null ? null : JSON.stringify(created) });
}
