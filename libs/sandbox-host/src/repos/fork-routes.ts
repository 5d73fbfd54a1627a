import { Router } from 'express';
import { z } from 'zod';
import { requireRole } from '../access/roles.ts';
import { paginate, readBody, repoOf, viewerOf } from '../http/request.ts';
import { renderRepo } from '../render/basics.ts';
import type { Sandbox } from '../state/model.ts';
import { forksOf } from '../state/sandbox.ts';
import { createFork, deleteRepo } from './forks.ts';

const NewFork = z.object({
  name: z
    .string()
    .regex(/^(?!\.{1,2}$)[A-Za-z0-9._-]{1,100}$/)
    .optional(),
});

/** Forks: everyone who may read a repository may have one, and owns its content. */
export function forkRoutes(sandbox: Sandbox): Router {
  const router = Router({ mergeParams: true });

  router.get('/forks', (req, res) => {
    const forks = paginate(sandbox, req, res, forksOf(sandbox, repoOf(res)));
    res.json(forks.map((fork) => renderRepo(sandbox, fork)));
  });

  router.post('/forks', async (req, res) => {
    const [repo, { login }] = [repoOf(res), viewerOf(res)];
    requireRole(repo, login, 'read');
    const { name = repo.name } = readBody(NewFork, req, 'Repository');
    const fork = await sandbox.lock(repo.id, () => createFork(sandbox, repo, login, name));
    res.status(202).json(renderRepo(sandbox, fork));
  });

  router.delete('/', async (_req, res) => {
    const [repo, { login }] = [repoOf(res), viewerOf(res)];
    requireRole(repo, login, 'admin');
    await sandbox.lock(repo.id, async () => deleteRepo(sandbox, repo, login));
    res.status(204).end();
  });
  return router;
}
