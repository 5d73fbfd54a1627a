import type { TaskPayload, TaskType } from '@pipeline/domain';
import { sql } from 'kysely';
import { checksFor } from '../checks/commit-checks.ts';
import type { Tx } from '../driver/database.ts';
import { jsonList } from '../driver/fragments.ts';
import { type Params, prepared } from '../driver/prepared.ts';
import { MOST_POSTS_OF_KIND, type Post, postsFor } from '../intake/issue-talk.ts';
import { ownPullRequestFor, type PullRequestRow } from '../intake/pull-requests.ts';
import { hasIntelligence } from '../knowledge/find-items.ts';
import { type EndedRun, endedRunsFor } from '../queue/runs.ts';
import type { RepoRow } from '../repos/repos.ts';
import { promptFor } from '../tracks/si-issues.ts';

interface OfTask {
  tenantId: number;
  repoId: number;
  /** Null = a task without an issue. */
  issueId: number | null;
  /** 0 = a task without an issue. */
  number: number;
  taskType: TaskType;
}

/** Content of a task's payload, beside its issue. */
export interface TaskFacts extends Pick<RepoRow, 'owner' | 'name' | 'clone_url' | 'default_branch' | 'setup_command'> {
  /** The pipeline's own open pull request. */
  pr: Pick<PullRequestRow, 'number' | 'url' | 'head_sha' | 'head_ref' | 'title' | 'body'> | null;
  prompt: { version: number; instructions: string } | null;
  /** True = there may be snippets about the repo. */
  has_intelligence: boolean;
  /** Oldest first, of each kind the newest MOST_POSTS_OF_KIND. */
  posts: Post[];
  /** The newest 20, newest first. */
  attempts: EndedRun[];
  /** Checks by name, at most 100. */
  checks: NonNullable<TaskPayload['checks']>;
}

/** There are three kinds. */
const MOST_POSTS = 3 * MOST_POSTS_OF_KIND;

const PR_COLUMNS = ['number', 'url', 'head_sha', 'head_ref', 'title', 'body'];

const REPO = sql`repo.owner, repo.name, repo.clone_url, repo.default_branch, repo.setup_command`;

const ofIssue = prepared(
  'task-payload',
  (_db, p: Params<OfTask>) => sql<TaskFacts>`
    select ${REPO},
      (select row_to_json(pr) from (${ownPullRequestFor(p('issueId'), p('tenantId'), PR_COLUMNS)}) pr) as pr,
      (select row_to_json(prompt) from (${promptFor(p)}) prompt) as prompt,
      ${hasIntelligence(p)} as has_intelligence,
      ${jsonList(postsFor(p), MOST_POSTS)} as posts,
      ${jsonList(endedRunsFor(p), 20)} as attempts,
      ${jsonList(checksFor(p), 100)} as checks
    from repos repo where repo.tenant_id = ${p('tenantId')} and repo.id = ${p('repoId')}`,
);

// To start the probes that find nothing for a task without an issue costs more than the rest of its claim.
const ofRepo = prepared(
  'repo-payload',
  (_db, p: Params<Pick<OfTask, 'tenantId' | 'repoId'>>) => sql<Omit<TaskFacts, keyof typeof NO_ISSUE>>`
    select ${REPO}, ${hasIntelligence(p)} as has_intelligence
    from repos repo where repo.tenant_id = ${p('tenantId')} and repo.id = ${p('repoId')}`,
);

const NO_ISSUE = { pr: null, prompt: null, posts: [], attempts: [], checks: [] };

/**
 * Reads what the payload of a task consists of beside its issue: seven index probes, two for a task without an issue.
 * @throws Error when the tenant has no such repo.
 */
export async function factsOfTask(tx: Tx, task: OfTask): Promise<TaskFacts> {
  const { tenantId, repoId, issueId } = task;
  const found = issueId === null ? await ofRepo.first(tx, { tenantId, repoId }) : await ofIssue.first(tx, task);
  if (!found) throw new Error(`tenant ${tenantId} has no repo ${repoId}`);
  return { ...NO_ISSUE, ...found };
}
