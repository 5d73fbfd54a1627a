import { Router } from 'express';
import { z } from 'zod';
import { requireRole } from '../access/roles.ts';
import { branchRef } from '../git/git.ts';
import { makeMerge } from '../git/merge.ts';
import { Failure } from '../http/failure.ts';
import { numberParam, readBody, repoOf, viewerOf } from '../http/request.ts';
import { pullOf } from '../issues/changes.ts';
import { apiUrl } from '../render/basics.ts';
import { syncPulls } from '../repos/sync-pulls.ts';
import type { RepoRecord, Sandbox } from '../state/model.ts';
import { headRepoOf } from '../state/sandbox.ts';

const Update = z.object({ expected_head_sha: z.string().optional() });

/** Merges the base into the head branch: 202, or 422 when the head is another, has conflicts or is up to date. */
export function updateBranchRoutes(sandbox: Sandbox): Router {
  const router = Router({ mergeParams: true });
  router.put('/pulls/:number/update-branch', async (req, res) => {
    const [repo, { login }] = [repoOf(res), viewerOf(res)];
    const number = numberParam(req, 'number');
    const from = headRepoOf(sandbox, repo, pullOf(sandbox, repo, number).pull);
    if (from === null) throw new Failure(422, 'Head repository does not exist');
    requireRole(from, login, 'write');
    const { expected_head_sha: expected } = readBody(Update, req, 'PullRequest');
    await sandbox.lock(from.id, () => update(sandbox, { repo, from }, { number, expected, by: login }));
    const url = `${apiUrl(sandbox, repo)}/pulls/${number}`;
    res.status(202).json({ message: 'Updating pull request branch.', url });
  });
  return router;
}

async function update(
  sandbox: Sandbox,
  { repo, from }: { repo: RepoRecord; from: RepoRecord },
  { number, expected, by }: { number: number; expected: string | undefined; by: string },
): Promise<void> {
  const { git } = sandbox;
  const { pull, state } = pullOf(sandbox, repo, number);
  if (state === 'closed') throw new Failure(422, 'Pull request is closed');
  const dir = git.dir(from);
  const [head, base] = await Promise.all([
    git.resolve(dir, branchRef(pull.headRef)),
    git.resolve(git.dir(repo), branchRef(pull.baseRef)),
  ]);
  if (head === null || base === null) throw new Failure(422, 'Head branch does not exist');
  if (expected !== undefined && expected !== head) {
    throw new Failure(422, 'expected head sha didn’t match current head ref.');
  }
  if (from.id !== repo.id) await git.run(dir, ['fetch', '--quiet', '--no-write-fetch-head', git.dir(repo), base]);
  if (await git.contains(dir, head, base)) throw new Failure(422, 'There are no new commits on the base branch.');
  const message = `Merge branch '${pull.baseRef}' into ${pull.headRef}`;
  const order = { base: head, head: base, method: 'merge' as const, message, author: by, at: sandbox.now() };
  const sha = await makeMerge(git, dir, order);
  if (sha === null) throw new Failure(422, 'merge conflict between base and head');
  await git.run(dir, ['update-ref', branchRef(pull.headRef), sha, head]);
  await syncPulls(sandbox, from, by);
}
