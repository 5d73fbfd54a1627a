import type { ExpressionBuilder } from 'kysely';
import { svcNow } from '../driver/clock.ts';
import type { DB } from '../driver/database.generated.ts';
import type { Db, Tx } from '../driver/database.ts';
import { issuesIn, tenantOfE } from './edges.ts';

/** The child of edge `e`, if it is done; by the unique key of issues. */
const endedChild = (eb: ExpressionBuilder<DB & { e: DB['issue_edges'] }, 'e'>, tenantId: number | null) =>
  eb
    .selectFrom('issues as c')
    .select('c.id')
    .where('c.tenant_id', '=', tenantOfE(tenantId))
    .whereRef('c.repo_id', '=', 'e.child_repo_id')
    .whereRef('c.issue_number', '=', 'e.child_issue_number')
    .where('c.state', '=', 'done');

const mergedChild = (eb: ExpressionBuilder<DB & { e: DB['issue_edges'] }, 'e'>, tenantId: number) =>
  endedChild(eb, tenantId)
    .innerJoin('pull_requests as pr', (join) =>
      join.onRef('pr.tenant_id', '=', 'c.tenant_id').onRef('pr.issue_id', '=', 'c.id'),
    )
    .where('pr.merged', '=', true);

/**
 * Resolves the edges of an epic to subtasks that were done before the edge was inserted or reactivated: the end of a
 * subtask resolves only edges that it sees.
 */
export async function resolveEndedSubtasks(
  tx: Tx,
  tenantId: number,
  epic: { repoId: number; number: number },
): Promise<void> {
  await tx
    .updateTable('issue_edges as e')
    .set((eb) => ({
      active: false,
      resolved_by: eb
        .case()
        .when(eb.exists(mergedChild(eb, tenantId)))
        .then('merged')
        .else('cancelled')
        .end(),
      resolved_at: svcNow,
    }))
    .where('e.tenant_id', '=', tenantId)
    .where('e.kind', '=', 'subtask')
    .where('e.parent_repo_id', '=', epic.repoId)
    .where('e.parent_issue_number', '=', epic.number)
    .where('e.active', '=', true)
    .where((eb) => eb.exists(endedChild(eb, tenantId)))
    .execute();
}

/** Epics without an open subtask or one to be created: candidates, each is checked under its lock. */
export const finishedEpics = (fleet: Db, limit: number): Promise<{ tenant_id: number; id: number }[]> =>
  issuesIn(fleet, 'waiting-for-subtasks')
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('issue_edges as e')
            .select('e.id')
            .whereRef('e.tenant_id', '=', 'i.tenant_id')
            .whereRef('e.parent_repo_id', '=', 'i.repo_id')
            .whereRef('e.parent_issue_number', '=', 'i.issue_number')
            .where('e.kind', '=', 'subtask')
            .where('e.active', '=', true)
            .where((inner) => inner.not(inner.exists(endedChild(inner, null)))),
        ),
      ),
    )
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('projections as p')
            .select('p.id')
            .whereRef('p.tenant_id', '=', 'i.tenant_id')
            .whereRef('p.repo_id', '=', 'i.repo_id')
            .whereRef('p.issue_number', '=', 'i.issue_number')
            .where('p.lane', '=', 'issue')
            .where('p.status', 'in', ['pending', 'failed']),
        ),
      ),
    )
    .limit(limit)
    .execute();

/** The subtasks of an epic, in creation order. */
export const subtasksOf = (db: Db, tenantId: number, epic: { repoId: number; number: number }) =>
  db
    .selectFrom('issue_edges')
    .select(['child_issue_number', 'active', 'resolved_by'])
    .where('tenant_id', '=', tenantId)
    .where('kind', '=', 'subtask')
    .where('parent_repo_id', '=', epic.repoId)
    .where('parent_issue_number', '=', epic.number)
    .orderBy('id')
    .execute();

/** Returns whether an issue is a subtask, and how many subtasks it has had: one statement, two index probes. */
export async function splitFactsOf(
  db: Db,
  tenantId: number,
  { repoId, number }: { repoId: number; number: number },
): Promise<{ isSubtask: boolean; subtasks: number }> {
  const edges = () => db.selectFrom('issue_edges').where('tenant_id', '=', tenantId).where('kind', '=', 'subtask');
  const own = edges().where('parent_repo_id', '=', repoId).where('parent_issue_number', '=', number);
  const above = edges().where('child_repo_id', '=', repoId).where('child_issue_number', '=', number);
  const row = await db
    .selectNoFrom((eb) => [
      eb.exists(above.select('id')).as('isSubtask'),
      own.select((e) => e.fn.countAll<number>().as('count')).as('subtasks'),
    ])
    .executeTakeFirstOrThrow();
  return { isSubtask: Boolean(row.isSubtask), subtasks: Number(row.subtasks ?? 0) };
}
