import { Router } from 'express';
import { z } from 'zod';
import { requireRole, roleOf } from '../access/roles.ts';
import { Failure, notFound } from '../http/failure.ts';
import { readBody, repoOf, viewerOf } from '../http/request.ts';
import { renderRepo, renderSelf, renderUser } from '../render/basics.ts';
import { GLOBAL, type RepoRecord, type Sandbox } from '../state/model.ts';
import { change } from '../state/sandbox.ts';
import { moveRepo } from './move.ts';

const name = z.string().regex(/^(?!\.{1,2}$)(?!.*\.git$)[A-Za-z0-9._-]{1,100}$/i);

/** The settings that can be changed later. */
const RepoSettings = z.object({
  name: name.optional(),
  archived: z.boolean().optional(),
  allow_auto_merge: z.boolean().optional(),
});
const Transfer = z.object({ new_owner: z.string().min(1), new_name: name.optional() });

/** @throws Failure 403 in the host's words. */
export function requireWritable({ archived }: RepoRecord): void {
  if (archived) throw new Failure(403, 'Repository was archived so is read-only.');
}

function setAutoMerge(sandbox: Sandbox, repo: RepoRecord, allowAutoMerge: boolean): RepoRecord {
  requireWritable(repo);
  return change(sandbox, () => {
    const saved = { ...repo, allowAutoMerge };
    sandbox.state.put('repo', GLOBAL, saved);
    return saved;
  });
}

function setArchived(
  sandbox: Sandbox,
  repo: RepoRecord,
  { archived, by }: { archived: boolean; by: string },
): RepoRecord {
  if (archived === (repo.archived ?? false)) return repo;
  return change(sandbox, () => {
    const saved = { ...repo, archived };
    sandbox.state.put('repo', GLOBAL, saved);
    const around = { repository: renderRepo(sandbox, saved), sender: renderUser(sandbox, by) };
    sandbox.deliveries.emit('repository', { action: archived ? 'archived' : 'unarchived', ...around });
    return saved;
  });
}

const LEGACY = { admin: 'admin', write: 'write', triage: 'read', read: 'read', none: 'none' } as const;

/** The repository itself and who may do what in it. */
export function repoRoutes(sandbox: Sandbox): Router {
  const router = Router({ mergeParams: true });

  const settings = router.route('/');
  settings.patch((req, res) => {
    const repo = repoOf(res);
    const by = viewerOf(res).login;
    requireRole(repo, by, 'admin');
    const { archived, name, allow_auto_merge: allowAutoMerge } = readBody(RepoSettings, req, 'Repository');
    const allowing = allowAutoMerge === undefined ? repo : setAutoMerge(sandbox, repo, allowAutoMerge);
    const set = archived === undefined ? allowing : setArchived(sandbox, allowing, { archived, by });
    if (name !== undefined) requireWritable(set);
    res.json(renderRepo(sandbox, name === undefined ? set : moveRepo(sandbox, set, { name, by })));
  });
  // The first router of all below a repository: no other write gets past it.
  router.use((req, res, next) => {
    if (req.method !== 'GET' && req.method !== 'HEAD') requireWritable(repoOf(res));
    next();
  });

  settings.get((_req, res) => {
    res.json(renderRepo(sandbox, repoOf(res)));
  });

  router.post('/transfer', (req, res) => {
    const [repo, by] = [repoOf(res), viewerOf(res).login];
    requireRole(repo, by, 'admin');
    const { new_owner: owner, new_name: newName = repo.name } = readBody(Transfer, req, 'Repository');
    res.status(202).json(renderRepo(sandbox, moveRepo(sandbox, repo, { owner, name: newName, by })));
  });

  router.get('/collaborators/:login/permission', (req, res) => {
    const repo = repoOf(res);
    const user = sandbox.state.findUser(req.params.login);
    if (!user) throw notFound();
    const role = roleOf(repo, user.login);
    res.json({
      permission: LEGACY[role],
      role_name: role,
      user: { ...renderUser(sandbox, user.login), role_name: role },
    });
  });
  return router;
}

/** Routes of what belongs to the caller rather than to a repository. */
export function viewerRoutes(sandbox: Sandbox): Router {
  const router = Router();

  router.get('/user', (_req, res) => {
    res.json(renderSelf(sandbox, viewerOf(res)));
  });

  router.get('/users/:login', (req, res) => {
    const user = sandbox.state.findUser(req.params.login);
    if (!user) throw notFound();
    res.json(renderSelf(sandbox, user));
  });
  return router;
}
