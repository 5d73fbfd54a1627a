import { Router } from 'express';
import { requireRole } from '../access/roles.ts';
import { branchRef } from '../git/git.ts';
import { Failure } from '../http/failure.ts';
import { repoOf, viewerOf } from '../http/request.ts';
import type { Sandbox } from '../state/model.ts';
import { syncPulls } from './sync-pulls.ts';

/** Branches. Deleting one closes its open pull request, as on the real host. */
export function refRoutes(sandbox: Sandbox): Router {
  const router = Router({ mergeParams: true });
  const { git } = sandbox;

  router.delete('/git/refs/*ref', async (req, res) => {
    const [repo, { login }] = [repoOf(res), viewerOf(res)];
    requireRole(repo, login, 'write');
    // Clients send the slashes of a ref as they are or encoded.
    const ref = (req.params as { ref: string[] }).ref.join('/');
    if (!ref.startsWith('heads/')) throw new Failure(422, 'Reference does not exist');
    const branch = ref.slice('heads/'.length);
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
