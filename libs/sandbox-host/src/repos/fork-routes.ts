import { rmSync } from 'node:fs';
import { Router } from 'express';
import { z } from 'zod';
import { requireRole } from '../access/roles.ts';
import { importRepository } from '../git/import-repo.ts';
import { paginate, readBody, repoOf, viewerOf } from '../http/request.ts';
import { isPull, setOpen } from '../issues/changes.ts';
import { renderRepo, renderUser } from '../render/basics.ts';
import { GLOBAL, type RepoRecord, type Sandbox } from '../state/model.ts';
import { change, findRepo, forksOf, parentOf, timestamp } from '../state/sandbox.ts';
import { takeName } from './move.ts';

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

/** Copies the branches and tags of a repository; one owner has one fork of it. Runs under the lock of the repository. */
async function createFork(sandbox: Sandbox, parent: RepoRecord, owner: string, name: string) {
  const known = forksOf(sandbox, parent).find((fork) => fork.owner === owner);
  if (known) return known;
  const id = change(sandbox, () => sandbox.state.nextId());
  const { git } = sandbox;
  const defaultBranch = await importRepository(git, git.dir({ id }), git.dir(parent));
  return change(sandbox, () => {
    const at = timestamp(sandbox);
    const fork: RepoRecord = {
      id,
      owner,
      name: freeName(sandbox, owner, name),
      private: parent.private,
      defaultBranch,
      collaborators: {},
      requiredApprovals: 0,
      lastNumber: 0,
      createdAt: at,
      pushedAt: at,
      forkOf: parent.id,
    };
    sandbox.state.put('repo', GLOBAL, fork);
    takeName(sandbox, fork);
    return fork;
  });
}

/** Returns a free name, as the real host does: `name-1` where the owner has another repository of that name. */
function freeName(sandbox: Sandbox, owner: string, name: string): string {
  let free = name;
  for (let n = 1; findRepo(sandbox, owner, free); n += 1) free = `${name}-${n}`;
  return free;
}

/** Deletes a repository. Open pull requests from its branches are closed, and show no repository any more. */
function deleteRepo(sandbox: Sandbox, repo: RepoRecord, by: string): void {
  const parent = parentOf(sandbox, repo);
  change(sandbox, () => {
    const around = { repository: renderRepo(sandbox, repo), sender: renderUser(sandbox, by) };
    sandbox.deliveries.emit('repository', { action: 'deleted', ...around });
    sandbox.state.remove('repo', GLOBAL, repo.id);
    for (const issue of parent ? sandbox.state.list('issue', parent.id).filter(isPull) : []) {
      if (!parent || issue.pull.headRepoId !== repo.id) continue;
      setOpen(sandbox, parent, issue, { open: false, reason: null, by });
    }
  });
  rmSync(sandbox.git.dir(repo), { recursive: true, force: true });
}
