import type { FilteredIssue, IssueCriteria, State } from '@pipeline/domain';
import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../driver/database.ts';
import { fleetNote } from '../driver/fragments.ts';
import type { IssueRow } from './issues.ts';

/** Position of an issue in the order of a selection. */
export interface IssuePosition {
  tenantId: number;
  repoId: number;
  number: number;
}

export interface IssueSelection {
  criteria: IssueCriteria;
  /** One repo, one tenant, or all enabled repos. */
  scope: { tenantId: number; repoId?: number } | 'all';
  /** Only issues after this position. */
  after: IssuePosition | null;
}

export interface SelectedIssue extends IssuePosition {
  issueId: number;
  /** The repo's slug as the host spells it, and the external id of its tenant. */
  repo: string;
  tenant: string;
  title: string;
  state: State;
}

/**
 * The issues of enabled repos that meet the criteria, by tenant, repo and number. Costs the issues of the scope that
 * are not done (index issues_open), that are blocked (issues_blocked) or that were stopped by the error
 * (issues_of_error), whichever are fewest; only a filter that names done issues reads all of the scope.
 */
export async function selectIssues(fleet: Db, selection: IssueSelection, limit: number): Promise<SelectedIssue[]> {
  const { rows } = await selectionStatement(selection, limit).execute(fleet);
  return rows;
}

export const selectionStatement = (selection: IssueSelection, limit: number): RawBuilder<SelectedIssue> => sql`
  ${fleetNote('operators act on every tenant')}
  select i.tenant_id as "tenantId", i.repo_id as "repoId", i.issue_number as "number", i.id as "issueId",
    r.owner || '/' || r.name as "repo", t.external_id as "tenant", i.title, i.state
  ${chosen(selection)}
  order by i.tenant_id, i.repo_id, i.issue_number
  limit ${limit}`;

/** Total number; counting ends at `most`. */
export async function countIssues(fleet: Db, selection: IssueSelection, most: number): Promise<number> {
  const { rows } = await sql<{ n: number }>`
    ${fleetNote('operators act on every tenant')}
    select count(*) as n from (select 1 ${chosen(selection)} limit ${most}) c`.execute(fleet);
  return rows[0]?.n ?? 0;
}

const chosen = ({ criteria, scope, after }: IssueSelection): RawBuilder<unknown> => sql`
  from issues i
  join repos r on r.tenant_id = i.tenant_id and r.id = i.repo_id and r.enabled
  join tenants t on t.id = r.tenant_id
  where ${sql.join([...placeConditions(scope, after), ...conditions(criteria)], sql` and `)}`;

function placeConditions(scope: IssueSelection['scope'], after: IssuePosition | null): RawBuilder<unknown>[] {
  return [
    ...(scope === 'all' ? [] : [sql`i.tenant_id = ${scope.tenantId}`]),
    ...(scope === 'all' || scope.repoId === undefined ? [] : [sql`i.repo_id = ${scope.repoId}`]),
    ...(after === null
      ? []
      : [sql`(i.tenant_id, i.repo_id, i.issue_number) > (${after.tenantId}, ${after.repoId}, ${after.number})`]),
  ];
}

/** A row in the form that the domain's `meets` expects. */
export const filteredOf = (row: Omit<IssueRow, 'now' | 'ms_in_state' | 'late_us'>): FilteredIssue => ({
  number: row.issue_number,
  state: row.state,
  isPaused: row.is_paused,
  isBlocked: row.is_blocked,
  blockReason: row.block_reason,
  blockClassification: row.block_classification,
  errorFingerprint: row.error_fingerprint,
  labels: row.labels,
});

/** The same condition as the domain's `meets`; a test compares them. */
function conditions(criteria: IssueCriteria): RawBuilder<unknown>[] {
  const { states, isPaused, isBlocked, blockReason, blockClassification, fingerprints, label, issueNumbers } = criteria;
  const isFlag = (column: string, wanted: boolean | undefined) =>
    wanted === undefined ? [] : [wanted ? sql.ref(column) : sql`not ${sql.ref(column)}`];
  const isText = (column: string, wanted: string | undefined) =>
    wanted === undefined ? [] : [sql`${sql.ref(column)} = ${wanted}`];
  return [
    ...(states?.includes('done') ? [] : [sql`i.is_open`]),
    ...(states ? [sql`i.state = any(${states}::text[])`] : []),
    ...isFlag('i.is_paused', isPaused),
    ...isFlag('i.is_blocked', isBlocked),
    ...isText('i.block_reason', blockReason),
    ...isText('i.block_classification', blockClassification),
    ...(fingerprints ? [sql`i.is_blocked and i.error_fingerprint = any(${fingerprints}::text[])`] : []),
    ...(label === undefined ? [] : [sql`${label} = any(i.labels)`]),
    ...(issueNumbers ? [sql`i.issue_number = any(${issueNumbers}::integer[])`] : []),
  ];
}
