import { Router } from 'express';
import { isProtected } from '../access/protection.ts';
import { allows } from '../access/roles.ts';
import { branchRef } from '../git/git.ts';
import { Failure, notFound } from '../http/failure.ts';
import { repoOf, viewerOf } from '../http/request.ts';
import { renderBranch, renderProtection, renderRules } from '../render/branch.ts';
import type { Sandbox } from '../state/context.ts';
import type { RepoRecord } from '../state/model.ts';

/** A branch and what protects it. Only administrators may read the protection itself, as on the real host. */
export function branchRoutes(sandbox: Sandbox): Router {
  const router = Router({ mergeParams: true });

  const commitOf = async (repo: RepoRecord, branch: string): Promise<string> => {
    const sha = await sandbox.git.resolve(sandbox.git.dir(repo), branchRef(branch));
    if (!sha) throw new Failure(404, 'Branch not found');
    return sha;
  };

  router.get('/branches/:branch/protection', async (req, res) => {
    const repo = repoOf(res);
    if (!allows(repo, viewerOf(res).login, 'admin')) throw notFound();
    await commitOf(repo, req.params.branch);
    if (!isProtected(repo, req.params.branch)) throw new Failure(404, 'Branch not protected');
    res.json(renderProtection(sandbox, repo));
  });

  router.get('/branches/:branch', async (req, res) => {
    const repo = repoOf(res);
    res.json(renderBranch(sandbox, repo, { name: req.params.branch, sha: await commitOf(repo, req.params.branch) }));
  });

  router.get('/rules/branches/:branch', (req, res) => {
    const repo = repoOf(res);
    res.json(isProtected(repo, req.params.branch) ? renderRules(repo) : []);
  });
  return router;
}
