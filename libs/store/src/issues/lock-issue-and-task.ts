import { WORK_TASK_TYPES } from '@pipeline/domain';
import { sql } from 'kysely';
import { COLUMNS } from '../driver/database.generated.ts';
import type { Tx } from '../driver/database.ts';
import { columnList, columnsOf, partOf } from '../driver/fragments.ts';
import { type Params, prepared } from '../driver/prepared.ts';
import type { TaskRow } from '../queue/tasks.ts';
import { AT_LOCK, type IssueRow } from './issues.ts';

const ISSUE = [...COLUMNS.issues, 'now', 'ms_in_state'];

const workTypes = sql.join(WORK_TASK_TYPES.map((type) => sql.lit(type)));

// The count makes the task wait for the lock of the issue, as in `lockClaim`.
const locked = prepared(
  'lock-issue-and-task',
  (_db, p: Params<{ tenantId: number; issueId: number }>) => sql<Record<string, unknown>>`
    with issue as materialized (
      select ${columnList(COLUMNS.issues)}, ${sql.join([...AT_LOCK])} from issues
      where tenant_id = ${p('tenantId')} and id = ${p('issueId')} for update
    ), task as materialized (
      select ${columnList(COLUMNS.tasks)} from tasks cross join (select count(*) from issue) issue_first
      where tenant_id = ${p('tenantId')} and issue_id = ${p('issueId')} and task_type in (${workTypes})
      for update of tasks
    )
    select ${columnsOf('issue', ISSUE)}, ${columnsOf('task', COLUMNS.tasks)} from issue left join task on true`,
);

/**
 * Locks an issue and then its work task, of which it has one at most.
 * @returns undefined for an unknown issue.
 */
export async function lockIssueAndTask(
  tx: Tx,
  tenantId: number,
  issueId: number,
): Promise<{ issue: IssueRow; task: TaskRow | undefined } | undefined> {
  const row = await locked.first(tx, { tenantId, issueId });
  if (!row) return undefined;
  const task = row.task_id === null ? undefined : partOf<TaskRow>(row, 'task', COLUMNS.tasks);
  return { issue: partOf<IssueRow>(row, 'issue', ISSUE), task };
}
