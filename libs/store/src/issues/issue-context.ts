import type { WorkflowSnapshot } from '@pipeline/domain';
import { type RawBuilder, sql } from 'kysely';
import { COLUMNS } from '../driver/database.generated.ts';
import type { Tx } from '../driver/database.ts';
import { columnsOf, partOf } from '../driver/fragments.ts';
import { type Params, prepared } from '../driver/prepared.ts';
import { ownPullRequestFor, type PullRequestRow } from '../intake/pull-requests.ts';
import { type LingeringRun, lingeringOf } from '../queue/runs.ts';
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
      (select row_to_json(l) from (${lingeringOf(issueId, tenantId)}) l) as lingering`;

export const ownPr = (tenantId: Part, issueId: Part): Part => sql`
    left join lateral (${ownPullRequestFor(issueId, tenantId)}) pr on true`;

const around = (tenantId: Part, which: Part) => sql<Record<string, unknown>>`
    select ${contextColumns(tenantId, sql`issue.id`, sql`issue.issue_number`)}
    from issues issue
    join repos repo on repo.tenant_id = ${tenantId} and repo.id = issue.repo_id
    ${ownPr(tenantId, sql`issue.id`)}
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
 * Reads all data that belongs to an issue at once: seven index probes. It is read after the lock of the issue, of which
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

/** The context in a row of these columns. */
export const contextOf = (row: Readonly<Record<string, unknown>>): IssueContextRow => ({
  repo: partOf<RepoRow>(row, 'repo', COLUMNS.repos),
  workflow: row.workflow as WorkflowSnapshot | null,
  pr: row.pr_id === null ? undefined : partOf<PullRequestRow>(row, 'pr', COLUMNS.pull_requests),
  openBlockers: row.open_blockers as number,
  openDependencies: row.open_dependencies as number,
  lingering: (row.lingering ?? undefined) as LingeringRun | undefined,
});
