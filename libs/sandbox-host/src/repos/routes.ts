import { Router } from 'express';
import { roleOf } from '../access/roles.ts';
import { notFound } from '../http/failure.ts';
import { repoOf, viewerOf } from '../http/request.ts';
import { renderRepo, renderSelf, renderUser } from '../render/basics.ts';
import type { Sandbox } from '../state/model.ts';

const LEGACY = { admin: 'admin', write: 'write', triage: 'read', read: 'read', none: 'none' } as const;

/** The repository itself and who may do what in it. */
export function repoRoutes(sandbox: Sandbox): Router {
  const router = Router({ mergeParams: true });

  router.get('/', (_req, res) => {
    res.json(renderRepo(sandbox, repoOf(res)));
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

/** What belongs to the caller rather than to a repository. */
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
