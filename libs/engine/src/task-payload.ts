import { branchOf, formatSlug, type State, type TaskPayload } from '@pipeline/domain';
import {
  type Claimed,
  historyOf,
  issueById,
  openPullRequest,
  previousAttempts,
  promptOfIssue,
  remarksOf,
  repoById,
} from '@pipeline/store';
import type { Engine } from './context.ts';

/**
 * All that a worker is told about its task, read after the claim, so that the claim stays short. The issue may have
 * moved on since: then the report is refused, for the claim is withdrawn with the move.
 * @returns it, what the issue has cost so far, and the version of the instructions in it, if its track gave any.
 */
export async function payloadOf(
  engine: Engine,
  tenantId: number,
  task: Claimed,
): Promise<{ payload: TaskPayload; costUsd: number; promptVersion: number | null }> {
  const db = engine.store.tenant;
  const issueId = task.issue_id;
  const { issue_number: number, repo_id: repoId } = task;
  const [repo, issue, pr, remarks, attempts, prompt] = await Promise.all([
    repoById(db, tenantId, task.repo_id),
    issueId === null ? undefined : issueById(db, tenantId, issueId),
    issueId === null ? undefined : openPullRequest(db, tenantId, issueId),
    issueId === null ? [] : remarksOf(db, tenantId, issueId),
    issueId === null ? [] : previousAttempts(db, tenantId, { issueId, taskType: task.task_type }),
    issueId === null ? undefined : promptOfIssue(db, tenantId, { repoId, number }),
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
    history: issue && task.task_type === 'retrospect' ? await historyOf(db, tenantId, issue) : null,
  };
  return { payload, costUsd: issue?.cost_usd ?? 0, promptVersion: prompt?.version ?? null };
}
