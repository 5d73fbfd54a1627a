import { sql } from 'kysely';
import type { Db } from '../driver/database.ts';

interface MessageFilter {
  issueId: number;
  taskId?: string | undefined;
  invocation?: number | undefined;
}

/**
 * Agent messages of an issue: tasks by age, then model calls, then messages. One index scan of the issue's messages.
 * @param withTools false omits tool inputs and results, which may be large.
 */
export function messagesOfIssue(
  db: Db,
  tenantId: number,
  filter: MessageFilter,
  { limit, offset, withTools }: { limit: number; offset: number; withTools: boolean },
) {
  const isTool = sql`subtype in ('tool_use', 'tool_result')`;
  return db
    .selectFrom('agent_messages')
    .select([
      'task_id',
      'invocation_index',
      'sequence',
      'agent',
      'role',
      'subtype',
      'tool_name',
      'truncated',
      'created_at',
    ])
    .select([
      sql<string | null>`case when ${withTools} or not ${isTool} then content end`.as('content'),
      sql<unknown>`case when ${withTools} then tool_input end`.as('tool_input'),
      sql<unknown>`case when ${withTools} then tool_output end`.as('tool_output'),
    ])
    .where('tenant_id', '=', tenantId)
    .where('issue_id', '=', filter.issueId)
    .$if(filter.taskId !== undefined, (q) => q.where('task_id', '=', filter.taskId ?? ''))
    .$if(filter.invocation !== undefined, (q) => q.where('invocation_index', '=', filter.invocation ?? 0))
    .orderBy('task_created_at')
    .orderBy('task_id')
    .orderBy('invocation_index')
    .orderBy('sequence')
    .limit(limit)
    .offset(offset)
    .execute();
}
