import { sql } from 'kysely';
import { type Detector, within } from './detector.ts';

interface Row {
  title: string;
  state_entered_at: string;
  edge_ids: number[];
  subtasks: number[];
}

const EPIC = { repo: 'parent_repo_id', number: 'parent_issue_number' };

/**
 * An epic that is done while subtasks still count as outstanding; one finding for each epic. Cost: the active subtask
 * edges (issue_edges_of_parent), one probe of the issues each.
 */
export const staleSubtaskEdge: Detector<Row> = {
  query: (scope) => sql`
    select i.tenant_id, i.repo_id, i.issue_number, i.title, i.state_entered_at,
      array_agg(e.id order by e.id) as edge_ids, array_agg(e.child_issue_number order by e.id) as subtasks
    from issue_edges e
    join issues i
      on i.tenant_id = e.tenant_id and i.repo_id = e.parent_repo_id and i.issue_number = e.parent_issue_number
    where e.active and e.kind = 'subtask' and i.state = 'done' and ${within(scope, 'e', EPIC)}
    group by i.tenant_id, i.id`,
  detail: (row) => ({
    title: row.title,
    doneSince: row.state_entered_at,
    edgeIds: row.edge_ids,
    subtasks: row.subtasks,
  }),
};
