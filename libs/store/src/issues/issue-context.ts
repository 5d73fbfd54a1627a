import type { WorkflowSnapshot } from '@pipeline/domain';
import { sql } from 'kysely';
import { COLUMNS } from '../driver/database.generated.ts';
import type { Tx } from '../driver/database.ts';
import { columnsOf, partOf } from '../driver/fragments.ts';
import { type Params, prepared } from '../driver/prepared.ts';
import { onOwnBranch, type PullRequestRow } from '../intake/pull-requests.ts';
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
}

const around = prepared(
  'issue-context',
  (_db, p: Params<{ tenantId: number; repoId: number; issueId: number; issueNumber: number }>) => sql<
    Record<string, unknown>
  >`
    select ${columnsOf('repo', COLUMNS.repos)}, ${columnsOf('pr', COLUMNS.pull_requests)},
      (select w.body from workflow_snapshots w
        where w.tenant_id = ${p('tenantId')} and w.repo_id = repo.id and w.active) as workflow,
      (select count(*) from findings f
        where f.tenant_id = ${p('tenantId')} and f.issue_id = ${p('issueId')} and f.blocks_progress
          and f.status in ('open', 'accepted')) as open_blockers,
      (select count(*) from issue_edges e
        where e.tenant_id = ${p('tenantId')} and e.kind = 'depends_on' and e.child_repo_id = repo.id
          and e.child_issue_number = ${p('issueNumber')} and e.active and not exists (
            select from issues i where i.tenant_id = ${p('tenantId')} and i.repo_id = e.parent_repo_id
              and i.issue_number = e.parent_issue_number and i.state = 'done')) as open_dependencies
    from repos repo
    left join lateral (
      select ${sql.join(COLUMNS.pull_requests.map((column) => sql.ref(column)))} from pull_requests
      where tenant_id = ${p('tenantId')} and issue_id = ${p('issueId')} and state = 'open' and agent_authored
      order by ${onOwnBranch} desc, number desc limit 1
    ) pr on true
    where repo.tenant_id = ${p('tenantId')} and repo.id = ${p('repoId')}`,
);

/**
 * Reads all data that belongs to an issue at once: five index probes.
 * @throws Error when the tenant has no such repo.
 */
export async function contextOfIssue(
  tx: Tx,
  { tenant_id, repo_id, id, issue_number }: { tenant_id: number; repo_id: number; id: number; issue_number: number },
): Promise<IssueContextRow> {
  const row = await around.first(tx, { tenantId: tenant_id, repoId: repo_id, issueId: id, issueNumber: issue_number });
  if (!row) throw new Error(`tenant ${tenant_id} has no repo ${repo_id}`);
  return {
    repo: partOf<RepoRow>(row, 'repo', COLUMNS.repos),
    workflow: row.workflow as WorkflowSnapshot | null,
    pr: row.pr_id === null ? undefined : partOf<PullRequestRow>(row, 'pr', COLUMNS.pull_requests),
    openBlockers: row.open_blockers as number,
    openDependencies: row.open_dependencies as number,
  };
}
