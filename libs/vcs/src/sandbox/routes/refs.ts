import { Router } from 'express';
import type { Sandbox } from '../context.ts';
import { Failure } from '../failure.ts';
import { branchRef } from '../git.ts';
import { repoOf, viewerOf } from '../request.ts';
import { requireRole } from '../roles.ts';
import { syncPulls } from '../sync-pulls.ts';

/** Branches. Deleting one closes its open pull request, as on the real host. */
export function refRoutes(sandbox: Sandbox): Router {
  const router = Router({ mergeParams: true });
  const { git } = sandbox;

  router.delete('/git/refs/heads/*branch', async (req, res) => {
    const [repo, { login }] = [repoOf(res), viewerOf(res)];
    requireRole(repo, login, 'write');
    const branch = (req.params as { branch: string[] }).branch.join('/');
    await sandbox.lock(repo.id, async () => {
      const dir = git.dir(repo);
      if (branch === repo.defaultBranch) throw new Failure(422, 'Cannot delete the default branch');
      if (!(await git.resolve(dir, branchRef(branch)))) throw new Failure(422, 'Reference does not exist');
      await git.run(dir, ['update-ref', '-d', branchRef(branch)]);
      await syncPulls(sandbox, repo, login);
    });
    res.status(204).end();
  });
  return router;
}
