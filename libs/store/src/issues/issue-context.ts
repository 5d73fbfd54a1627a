import type { WorkflowSnapshot } from '@pipeline/domain';
import { type RawBuilder, sql } from 'kysely';
import { COLUMNS } from '../driver/database.generated.ts';
import type { Tx } from '../driver/database.ts';
import { columnList, columnsOf, partOf } from '../driver/fragments.ts';
import { type Params, prepared } from '../driver/prepared.ts';
import { ownPullRequestFor, type PullRequestRow } from '../intake/pull-requests.ts';
import { type LingeringRun, lingeringOf } from '../queue/runs.ts';
import type { TaskRow } from '../queue/tasks.ts';
import { WORK_TYPES } from '../queue/work-types.ts';
import type { RepoRow } from '../repos/repos.ts';

/** The data beside its own row that decisions about an issue depend on. */
export interface IssueContextRow {
  repo: RepoRow;
  /** Null = the repo has no active workflow. */
  workflow: WorkflowSnapshot | null;
  /** The pipeline's own open pull request; of several the one on the issue's own branch, else the newest. */
  pr: PullRequestRow | undefined;
  /** Findings that keep the issue from being merged: open or accepted, and marked as blocking. */
  openBlockers: number;
  /** Issues that are not done and that it waits for. */
  openDependencies: number;
  /** A withdrawn claim whose worker may still be working on it, and for how many milliseconds at most. */
  lingering: LingeringRun | undefined;
  ending: Ending;
}

/** Facts that the end of an issue depends on. */
interface Ending {
  /** True = one of its pull requests was merged, also one of a person. */
  isMerged: boolean;
  /** True = its end resolves findings. */
  resolvesFindings: boolean;
  /** True = it has a retrospect task from an earlier end. */
  hasRetrospect: boolean;
}

type Part = RawBuilder<unknown>;

/** The columns of an issue's context; the statement has `repo` and, by `ownPr`, `pr`. */
export const contextColumns = (tenantId: Part, issueId: Part, issueNumber: Part): Part => sql`
      ${columnsOf('repo', COLUMNS.repos)}, ${columnsOf('pr', COLUMNS.pull_requests)},
      (select w.body from workflow_snapshots w
        where w.tenant_id = ${tenantId} and w.repo_id = repo.id and w.active) as workflow,
      (select count(*) from findings f
        where f.tenant_id = ${tenantId} and f.issue_id = ${issueId} and f.blocks_progress
          and f.status in ('open', 'accepted')) as open_blockers,
      (select count(*) from issue_edges e
        where e.tenant_id = ${tenantId} and e.kind = 'depends_on' and e.child_repo_id = repo.id
          and e.child_issue_number = ${issueNumber} and e.active and not exists (
            select from issues i where i.tenant_id = ${tenantId} and i.repo_id = e.parent_repo_id
              and i.issue_number = e.parent_issue_number and i.state = 'done')) as open_dependencies,
      (select row_to_json(l) from (${lingeringOf(issueId, tenantId)}) l) as lingering,
      exists (select from pull_requests m
        where m.tenant_id = ${tenantId} and m.issue_id = ${issueId} and m.merged) as is_merged,
      exists (select from findings r where r.tenant_id = ${tenantId} and r.resolved_by_issue_id = ${issueId}
        and r.status in ('open', 'accepted')) as resolves_findings,
      exists (select from tasks t where t.tenant_id = ${tenantId} and t.issue_id = ${issueId}
        and t.task_type = 'retrospect') as has_retrospect`;

export const ownPr = (tenantId: Part, issueId: Part): Part => sql`
    left join lateral (${ownPullRequestFor(issueId, tenantId)}) pr on true`;

const NOTHING = sql``;

/** @param and what else a row has: columns, and joins that have them. */
const around = (tenantId: Part, which: Part, and = { columns: NOTHING, joins: NOTHING }) => sql<
  Record<string, unknown>
>`
    select ${contextColumns(tenantId, sql`issue.id`, sql`issue.issue_number`)} ${and.columns}
    from issues issue
    join repos repo on repo.tenant_id = ${tenantId} and repo.id = issue.repo_id
    ${ownPr(tenantId, sql`issue.id`)} ${and.joins}
    where issue.tenant_id = ${tenantId} and ${which}`;

const byId = prepared('issue-context', (_db, p: Params<{ tenantId: number; issueId: number }>) =>
  around(p('tenantId'), sql`issue.id = ${p('issueId')}`),
);
const byNumber = prepared(
  'issue-context-by-number',
  (_db, p: Params<{ tenantId: number; repoId: number; number: number }>) =>
    around(p('tenantId'), sql`issue.repo_id = ${p('repoId')} and issue.issue_number = ${p('number')}`),
);

/**
 * Reads all data that belongs to an issue at once: ten index probes. It is read after the lock of the issue, of which
 * it needs the id only, so that both are sent together.
 * @returns undefined for an unknown issue.
 */
export async function contextOfIssue(tx: Tx, tenantId: number, issueId: number): Promise<IssueContextRow | undefined> {
  const row = await byId.first(tx, { tenantId, issueId });
  return row && contextOf(row);
}

/** The same for an issue that is known by its number. */
export async function contextOfIssueNumber(
  tx: Tx,
  tenantId: number,
  { repoId, number }: { repoId: number; number: number },
): Promise<IssueContextRow | undefined> {
  const row = await byNumber.first(tx, { tenantId, repoId, number });
  return row && contextOf(row);
}

const withTask = prepared(
  'issue-context-and-task',
  (_db, p: Params<{ tenantId: number; issueId: number }>) => sql<Record<string, unknown>>`
    with task as materialized (
      select ${columnList(COLUMNS.tasks)} from tasks
      where tenant_id = ${p('tenantId')} and issue_id = ${p('issueId')} and task_type in (${WORK_TYPES})
      for update
    )
    ${around(p('tenantId'), sql`issue.id = ${p('issueId')}`, {
      columns: sql`, ${columnsOf('task', COLUMNS.tasks)}`,
      joins: sql`left join task on true`,
    })}`,
);

/**
 * The context of an issue, and its work task, of which it has one at most: locked. It runs after the statement that
 * locks the issue, because a statement that waits for the issue does not see a task that was inserted meanwhile. It may
 * wait for a claim of the task, which changes nothing else that is read here.
 * @returns undefined for an unknown issue.
 */
export async function contextAndTaskOfIssue(
  tx: Tx,
  tenantId: number,
  issueId: number,
): Promise<{ rest: IssueContextRow; task: TaskRow | undefined } | undefined> {
  const row = await withTask.first(tx, { tenantId, issueId });
  if (!row) return undefined;
  const task = row.task_id === null ? undefined : partOf<TaskRow>(row, 'task', COLUMNS.tasks);
  return { rest: contextOf(row), task };
}

/** The context in a row of these columns. */
export const contextOf = (row: Readonly<Record<string, unknown>>): IssueContextRow => ({
  repo: partOf<RepoRow>(row, 'repo', COLUMNS.repos),
  workflow: row.workflow as WorkflowSnapshot | null,
  pr: row.pr_id === null ? undefined : partOf<PullRequestRow>(row, 'pr', COLUMNS.pull_requests),
  openBlockers: row.open_blockers as number,
  openDependencies: row.open_dependencies as number,
  lingering: (row.lingering ?? undefined) as LingeringRun | undefined,
  ending: {
    isMerged: row.is_merged as boolean,
    resolvesFindings: row.resolves_findings as boolean,
    hasRetrospect: row.has_retrospect as boolean,
  },
});
