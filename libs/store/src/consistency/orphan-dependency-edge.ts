import { sql } from 'kysely';
import { type Detector, type Scope, within } from './detector.ts';

interface Row {
  edges: OrphanEdge[];
}

/** `child` and `parent` as `owner/name#N`. */
interface OrphanEdge {
  id: number;
  kind: 'depends_on' | 'subtask';
  active: boolean;
  child: string;
  parent: string;
  missing: ('child' | 'parent')[];
}

const CHILD = { repo: 'child_repo_id', number: 'child_issue_number' };
const PARENT = { repo: 'parent_repo_id', number: 'parent_issue_number' };

/**
 * Edges, including resolved ones, with an end that has no record in the pipeline; one finding for the waiting issue:
 * the child of a dependency, the epic of a subtask. Cost: the edges, two index-only probes of the issues each. The
 * probes are scalar subqueries because those are never planned as a scan of all issues.
 */
export const orphanDependencyEdge: Detector<Row> = {
  query: (scope) => sql`
    select e.tenant_id, e.repo_id, e.issue_number, jsonb_agg(jsonb_build_object(
        'id', e.id, 'kind', e.kind, 'active', e.active,
        'child', c.owner || '/' || c.name || '#' || e.child_issue_number,
        'parent', p.owner || '/' || p.name || '#' || e.parent_issue_number,
        'missing', array_remove(array[
          case when e.has_child is null then 'child' end, case when e.has_parent is null then 'parent' end], null)
      ) order by e.id) as edges
    from (${edgesWithEnds(scope)}) e
    join repos c on c.tenant_id = e.tenant_id and c.id = e.child_repo_id
    join repos p on p.tenant_id = e.tenant_id and p.id = e.parent_repo_id
    where (e.has_child is null or e.has_parent is null) and ${within(scope, 'e')}
    group by e.tenant_id, e.repo_id, e.issue_number`,
  detail: ({ edges }) => ({ orphanEdgeIds: edges.map((edge) => edge.id), edges }),
};

const edgesWithEnds = (scope: Scope) => sql`
  select w.*,
    (select true from issues i where i.tenant_id = w.tenant_id and i.repo_id = w.child_repo_id
      and i.issue_number = w.child_issue_number) as has_child,
    (select true from issues i where i.tenant_id = w.tenant_id and i.repo_id = w.parent_repo_id
      and i.issue_number = w.parent_issue_number) as has_parent
  from (
    select e.tenant_id, e.id, e.kind, e.active, e.child_repo_id, e.child_issue_number, e.parent_repo_id,
      e.parent_issue_number, e.child_repo_id as repo_id, e.child_issue_number as issue_number
    from issue_edges e
    where e.kind = 'depends_on' and ${within(scope, 'e', CHILD)}
    union all
    select e.tenant_id, e.id, e.kind, e.active, e.child_repo_id, e.child_issue_number, e.parent_repo_id,
      e.parent_issue_number, e.parent_repo_id, e.parent_issue_number
    from issue_edges e
    where e.kind = 'subtask' and ${within(scope, 'e', PARENT)}
  ) w`;
