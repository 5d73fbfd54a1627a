import { Router } from 'express';
import { z } from 'zod';
import { requireRole } from '../access/roles.ts';
import { mayPushWorkflows } from '../apps/auth.ts';
import { branchRef } from '../git/git.ts';
import { makeMerge } from '../git/merge.ts';
import { Failure } from '../http/failure.ts';
import { numberParam, readBody, repoOf, viewerOf } from '../http/request.ts';
import { pullOf } from '../issues/changes.ts';
import { methodsOf, obstaclesOf } from '../protection/gate.ts';
import { rulesOf } from '../protection/rules.ts';
import { headLabel } from '../render/basics.ts';
import { recordActivity } from '../repos/activity.ts';
import type { MergeMethod, PullIssue, RepoRecord, Sandbox } from '../state/model.ts';
import { headRepoOf } from '../state/sandbox.ts';
import { finishMerge, startMerge } from './merge-record.ts';

const Merge = z.object({
  sha: z.string().optional(),
  merge_method: z.enum(['merge', 'squash', 'rebase']).default('merge'),
  commit_title: z.string().optional(),
  commit_message: z.string().optional(),
});
type MergeBody = z.output<typeof Merge>;

/** Merging: 405 when it cannot be, 409 when the branch is no longer what the caller saw. */
export function mergeRoutes(sandbox: Sandbox): Router {
  const router = Router({ mergeParams: true });

  router.get('/pulls/:number/merge', (req, res) => {
    const merged = pullOf(sandbox, repoOf(res), numberParam(req, 'number')).pull.mergedAt !== null;
    if (!merged) throw new Failure(404, 'Not Found');
    res.status(204).end();
  });

  router.put('/pulls/:number/merge', async (req, res) => {
    const [repo, viewer] = [repoOf(res), viewerOf(res)];
    requireRole(repo, viewer.login, 'write');
    const body = readBody(Merge, req, 'PullRequest');
    const number = numberParam(req, 'number');
    // One at a time per repo: two merges made from the same base would lose one of them.
    const sha = await sandbox.lock(repo.id, async () => {
      if (!mayPushWorkflows(viewer, repo)) await refuseWorkflows(sandbox, repo, pullOf(sandbox, repo, number));
      return merge(sandbox, repo, { number, body, by: viewer.login });
    });
    res.json({ sha, merged: true, message: 'Pull Request successfully merged' });
  });
  return router;
}

/** Refuses an app without the right for workflow files if a pull request changes one. */
async function refuseWorkflows({ git }: Sandbox, repo: RepoRecord, { pull }: PullIssue): Promise<void> {
  const range = `${pull.baseRef}...${pull.headSha}`;
  const list = await git.run(git.dir(repo), ['diff', '--name-only', range, '--', '.github/workflows']);
  const [file] = list.split('\n');
  if (!file) return;
  const words = `refusing to allow a GitHub App to create or update workflow \`${file}\` without \`workflows\` permission`;
  throw new Failure(403, words);
}

/** Merges for a person who left the merge to the host; nothing happens when it is refused after all. */
export async function tryMerge(
  sandbox: Sandbox,
  repo: RepoRecord,
  { number, method, by }: { number: number; method: MergeMethod; by: string },
): Promise<void> {
  try {
    await merge(sandbox, repo, { number, body: { merge_method: method }, by });
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
  }
}

async function merge(sandbox: Sandbox, repo: RepoRecord, order: { number: number; body: MergeBody; by: string }) {
  const { git } = sandbox;
  const { body, by } = order;
  const issue = pullOf(sandbox, repo, order.number);
  const dir = git.dir(repo);
  const from = headRepoOf(sandbox, repo, issue.pull);
  // The commits of a fork were brought here when they were pushed.
  const head = from?.id === repo.id ? await git.resolve(dir, branchRef(issue.pull.headRef)) : issue.pull.headSha;
  const base = await git.resolve(dir, branchRef(issue.pull.baseRef));
  refuse(sandbox, repo, issue, { head, wanted: body.sha, method: body.merge_method });
  if (head === null || base === null) throw new Failure(405, 'Pull Request is not mergeable');
  const [obstacle] = await obstaclesOf(sandbox, repo, issue, { login: by });
  if (obstacle) {
    const { byRuleset } = rulesOf(sandbox, repo, issue.pull.baseRef);
    throw new Failure(405, byRuleset ? `Repository rule violations found\n\n${obstacle.words}\n\n` : obstacle.words);
  }
  const method = body.merge_method;
  const message = messageOf(repo, issue, body);
  const sha = await makeMerge(git, dir, { base, head, method, message, author: by, at: sandbox.now() });
  if (sha === null) {
    throw new Failure(405, method === 'rebase' ? "This branch can't be rebased" : 'Pull Request is not mergeable');
  }
  startMerge(sandbox, repo, order.number, { sha, by });
  try {
    await git.run(dir, ['update-ref', branchRef(issue.pull.baseRef), sha, base]);
  } catch (error) {
    sandbox.log.warn(`merge of ${repo.owner}/${repo.name}#${issue.number}: ${String(error)}`);
    throw new Failure(405, 'Base branch was modified. Review and try the merge again.');
  }
  finishMerge(sandbox, repo, order.number);
  await recordActivity(sandbox, repo, by);
  return sha;
}

const NOT_ALLOWED = {
  merge: 'Merge commits are not allowed on this repository.',
  squash: 'Squash merges are not allowed on this repository.',
  rebase: 'Rebase merges are not allowed on this repository.',
};

function refuse(
  sandbox: Sandbox,
  repo: RepoRecord,
  issue: PullIssue,
  { head, wanted, method }: { head: string | null; wanted: string | undefined; method: MergeMethod },
): void {
  if (issue.state === 'closed') throw new Failure(405, 'Pull Request is not mergeable');
  if (wanted !== undefined && wanted !== head) {
    throw new Failure(409, 'Head branch was modified. Review and try the merge again.');
  }
  if (issue.pull.draft) throw new Failure(405, 'Pull Request is still a draft');
  if (!methodsOf(sandbox, repo, issue.pull.baseRef).includes(method)) throw new Failure(405, NOT_ALLOWED[method]);
}

function messageOf(repo: RepoRecord, issue: PullIssue, body: MergeBody): string {
  const from = headLabel(repo, issue.pull).replace(':', '/');
  const title =
    body.merge_method === 'merge'
      ? `Merge pull request #${issue.number} from ${from}`
      : `${issue.title} (#${issue.number})`;
  return `${body.commit_title ?? title}\n\n${body.commit_message ?? issue.title}`;
}
