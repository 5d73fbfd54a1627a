import {
  type ErrorClass,
  INBOUND_LABELS,
  isOutputLabel,
  LABEL_PREFIX,
  outputLabels,
  STATES,
  type State,
  type StoredConsistencyKind,
} from '@pipeline/domain';
import { type RawBuilder, sql } from 'kysely';

/** Scope of a check: every enabled repo of every tenant, one repo, or one issue. */
export type Scope = 'all' | { tenantId: number; repoId: number; issueNumber?: number };

/** The issue that a row is about. */
export interface Place {
  tenant_id: number;
  repo_id: number;
  issue_number: number;
}

/**
 * One kind of inconsistency, as one SELECT: the list of all findings and the check before and after a repair are the
 * same statement with another scope, so they cannot disagree.
 */
interface Detector<Row> {
  /** One row per issue; a scope restricts it inside, where indexes can use it. */
  query(scope: Scope): RawBuilder<Place & Row>;
  /** Returns the details that distinguish one finding from another for a reader. */
  detail(row: Row): Record<string, unknown>;
}

/** Columns with which a table names the issue of a row; without a number its rows are whole repos. */
interface PlaceColumns {
  repo: string;
  number?: string;
}

const OWN: PlaceColumns = { repo: 'repo_id', number: 'issue_number' };

/** The condition that restricts a table to the scope. Every level of a statement for one tenant needs it. */
export function within(scope: Scope, alias: string, columns: PlaceColumns = OWN): RawBuilder<boolean> {
  if (scope === 'all') return sql`true`;
  const column = (name: string) => sql.ref(`${alias}.${name}`);
  const repo = sql<boolean>`${column('tenant_id')} = ${scope.tenantId} and ${column(columns.repo)} = ${scope.repoId}`;
  if (scope.issueNumber === undefined || columns.number === undefined) return repo;
  return sql`${repo} and ${column(columns.number)} = ${scope.issueNumber}`;
}

/** Pairs a table of a subquery with the tenant of an outer row; a statement for one tenant names it by its id. */
const ofTenant = (scope: Scope, alias: string, outer: string): RawBuilder<boolean> =>
  sql`${sql.ref(`${alias}.tenant_id`)} = ${scope === 'all' ? sql.ref(`${outer}.tenant_id`) : scope.tenantId}`;

interface BlockedRow {
  title: string;
  state: State;
  block_reason: string | null;
  block_classification: ErrorClass | null;
  blocked_from_state: State | null;
  state_entered_at: string;
}

/**
 * Blocked, not done, and waiting for no other issue. By this definition every failure-blocked issue is one, so the
 * detail shows the kind of block. Cost: the blocked issues (issues_blocked), one probe of the edges each.
 */
const staleBlocked: Detector<BlockedRow> = {
  query: (scope) => sql`
    select i.tenant_id, i.repo_id, i.issue_number, i.title, i.state, i.block_reason, i.block_classification,
      i.blocked_from_state, i.state_entered_at
    from issues i
    where i.is_blocked and i.state <> 'done' and ${within(scope, 'i')}
      and not exists (
        select from issue_edges e
        where ${ofTenant(scope, 'e', 'i')} and e.kind = 'depends_on' and e.child_repo_id = i.repo_id
          and e.child_issue_number = i.issue_number and e.active)`,
  detail: (row) => ({
    title: row.title,
    state: row.state,
    blockReason: row.block_reason,
    blockClassification: row.block_classification,
    blockedFromState: row.blocked_from_state,
    since: row.state_entered_at,
  }),
};

interface EpicRow {
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
const staleSubtaskEdge: Detector<EpicRow> = {
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

interface LinkageRow {
  track_name: string;
  created_at: string;
  state_entered_at: string;
}

/**
 * A self-improvement issue whose pipeline issue is done, while its track still counts it as open. Cost: the open
 * self-improvement issues (si_issues_open), one probe of the issues each.
 */
const siLinkageGap: Detector<LinkageRow> = {
  query: (scope) => sql`
    select s.tenant_id, s.repo_id, s.issue_number, s.track_name, s.created_at, i.state_entered_at
    from si_issues s
    join issues i on i.tenant_id = s.tenant_id and i.repo_id = s.repo_id and i.issue_number = s.issue_number
    where s.completed_at is null and i.state = 'done' and ${within(scope, 's')}`,
  detail: (row) => ({ track: row.track_name, createdAt: row.created_at, doneSince: row.state_entered_at }),
};

interface LabelRow {
  state: State;
  is_blocked: boolean;
  is_paused: boolean;
  labels: string[];
}

/** `outputLabels` of the domain for everything that it depends on, as a relation. */
const LABEL_RULE = JSON.stringify(
  STATES.flatMap((state) =>
    [false, true].flatMap((isBlocked) =>
      [false, true].map((isPaused) => {
        const shown = { state, isBlocked, isPaused };
        return { ...shown, labels: outputLabels(shown) };
      }),
    ),
  ),
);

/**
 * Stored labels that show another state, block or pause than the issue has. Changes that the outbox has not sent yet are
 * no drift. Cost: the issues that are not done (issues_open), and a probe of the open projections for those that differ.
 */
const labelDrift: Detector<LabelRow> = {
  query: (scope) => sql`
    select i.tenant_id, i.repo_id, i.issue_number, i.state, i.is_blocked, i.is_paused, i.labels
    from (
      select i.tenant_id, i.repo_id, i.issue_number, i.state, i.is_blocked, i.is_paused, i.labels, rule.labels as wanted
      from issues i
      join jsonb_to_recordset(${LABEL_RULE}::jsonb)
        as rule (state text, "isBlocked" boolean, "isPaused" boolean, labels text[])
        on rule.state = i.state and rule."isBlocked" = i.is_blocked and rule."isPaused" = i.is_paused
      where i.is_open and ${within(scope, 'i')}
    ) i
    where (not i.labels @> i.wanted or exists (
        select from unnest(i.labels) l
        where starts_with(l, ${LABEL_PREFIX}) and l <> all (i.wanted) and l <> all (${INBOUND_LABELS})))
      and not exists (
        select from projections p
        where ${ofTenant(scope, 'p', 'i')} and p.repo_id = i.repo_id and p.issue_number = i.issue_number
          and p.status = 'pending')`,
  detail: (row) => {
    const wanted = outputLabels({ state: row.state, isBlocked: row.is_blocked, isPaused: row.is_paused });
    return {
      state: row.state,
      isBlocked: row.is_blocked,
      isPaused: row.is_paused,
      labels: row.labels,
      missing: wanted.filter((label) => !row.labels.includes(label)),
      unexpected: row.labels.filter((label) => isOutputLabel(label) && !wanted.includes(label)),
    };
  },
};

interface OrphanRow {
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
const orphanDependencyEdge: Detector<OrphanRow> = {
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
    (select true from issues i where ${ofTenant(scope, 'i', 'w')} and i.repo_id = w.child_repo_id
      and i.issue_number = w.child_issue_number) as has_child,
    (select true from issues i where ${ofTenant(scope, 'i', 'w')} and i.repo_id = w.parent_repo_id
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

/** Each detector defines its own rows: it maps what it selects to the detail. */
type AnyDetector = Pick<Detector<never>, 'detail'> & { query(scope: Scope): RawBuilder<unknown> };

export const DETECTORS: Record<StoredConsistencyKind, AnyDetector> = {
  stale_blocked: staleBlocked,
  stale_subtask_edge: staleSubtaskEdge,
  si_linkage_gap: siLinkageGap,
  label_drift: labelDrift,
  orphan_dependency_edge: orphanDependencyEdge,
};
