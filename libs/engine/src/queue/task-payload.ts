import { branchOf, formatSlug, type State, type TaskPayload } from '@pipeline/domain';
import {
  type Claimed,
  hasIntelligence,
  historyOf,
  type IssueRow,
  ownPullRequest,
  previousAttempts,
  promptOfIssue,
  remarksOf,
  repoById,
  setHeadOfRun,
} from '@pipeline/store';
import type { TransactionContext } from '../context/context.ts';

export interface Told {
  payload: TaskPayload;
  promptVersion: number | null;
  costUsd: number;
  isRepoKnown: boolean;
}

/**
 * The payload of a task without snippets: six indexed reads, pipelined with the read of its issue.
 * @returns it, the version of its instructions, if its track has any, the issue's cost in USD, and whether there may be
 * snippets.
 */
export async function payloadOf(
  unit: TransactionContext,
  task: Claimed,
  reading: Promise<IssueRow | undefined>,
): Promise<Told> {
  const { tx, tenantId } = unit;
  const issueId = task.issue_id;
  const { issue_number: number, repo_id: repoId } = task;
  const [issue, repo, pr, remarks, attempts, prompt, isRepoKnown] = await Promise.all([
    reading,
    repoById(tx, tenantId, repoId),
    issueId === null ? undefined : ownPullRequest(tx, tenantId, issueId),
    issueId === null ? [] : remarksOf(tx, tenantId, issueId),
    issueId === null ? [] : previousAttempts(tx, tenantId, { issueId, taskType: task.task_type }),
    issueId === null ? undefined : promptOfIssue(tx, tenantId, { repoId, number }),
    hasIntelligence(tx, { tenantId, repoId }),
  ]);
  const ofKind = (kind: string) => remarks.filter((remark) => remark.kind === kind);
  const payload: TaskPayload = {
    issue: issue
      ? {
          number: issue.issue_number,
          title: issue.title,
          body: issue.body,
          url: issue.url,
          labels: issue.labels,
          author: issue.author,
        }
      : null,
    repo: {
      slug: formatSlug(repo),
      cloneUrl: repo.clone_url,
      defaultBranch: repo.default_branch,
      setupCommand: repo.setup_command,
    },
    branch: issue ? branchOf(issue.issue_number) : null,
    pr: pr
      ? { number: pr.number, url: pr.url, headSha: pr.head_sha, headRef: pr.head_ref, title: pr.title, body: pr.body }
      : null,
    plan: issue?.plan ? { text: issue.plan, plannedFiles: issue.planned_files } : null,
    reviewComments: ofKind('review').map(({ author, body, path, line }) => ({ author, body, path, line })),
    answers: ofKind('answer').map(({ author, body }) => ({ author, body })),
    snippets: [],
    instructions: prompt?.instructions ?? null,
    previousAttempts: attempts.map(({ attempt, error_message, outcome }) => ({
      attempt,
      errorMessage: error_message,
      outcome,
    })),
    state: issue ? (issue.state as State) : null,
    history: issue && task.task_type === 'retrospect' ? await historyOf(tx, tenantId, issue) : null,
  };
  // The worker's report on the pull request applies to this commit, whatever is pushed meanwhile.
  if (pr) unit.send(setHeadOfRun(tx, tenantId, { runId: task.run_id, headSha: pr.head_sha }));
  return { payload, promptVersion: prompt?.version ?? null, costUsd: issue?.cost_usd ?? 0, isRepoKnown };
}
