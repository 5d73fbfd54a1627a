import express, { type Request, Router } from 'express';
import { z } from 'zod';
import { Failure, notFound } from '../http/failure.ts';
import { redirectToId } from '../http/redirects.ts';
import { numberParam, readBody } from '../http/request.ts';
import { renderRepo } from '../render/basics.ts';
import type { AppRecord, Grant, InstallationRecord } from '../state/app-records.ts';
import { GLOBAL, type RepoRecord, type Sandbox } from '../state/model.ts';
import { findMovedRepo, findRepo, timestamp } from '../state/sandbox.ts';
import { addGrant, appOf, permissionsOf, reaches, requireActive } from './grants.ts';
import { notifyApp } from './notify.ts';
import { renderApp, renderInstallation } from './render.ts';

const TokenRequest = z.strictObject({
  repositories: z.array(z.string()).min(1).optional(),
  repository_ids: z.array(z.int()).min(1).optional(),
  permissions: z.record(z.string(), z.enum(['read', 'write', 'admin'])).optional(),
});
type TokenRequest = z.output<typeof TokenRequest>;

/** Routes for an app itself, with a signed assertion in place of a token. */
export function appRoutes(sandbox: Sandbox): Router {
  const router = Router();
  const { state } = sandbox;
  const installations = (app: AppRecord) => state.list('installation', GLOBAL).filter(({ appId }) => appId === app.id);

  router.get('/app', async (req, res) => {
    const app = await appOf(sandbox, req.headers.authorization);
    res.json(renderApp(sandbox, app, installations(app).length));
  });

  router.get('/repos/:owner/:repo/installation', async (req, res) => {
    const app = await appOf(sandbox, req.headers.authorization);
    const { owner, repo: name } = req.params;
    const moved = findMovedRepo(sandbox, owner, name);
    if (moved) return redirectToId(sandbox, moved, { req, res });
    const repo = findRepo(sandbox, owner, name);
    const found = repo && installations(app).find((each) => reaches(each, repo));
    if (!found) throw notFound();
    res.json(renderInstallation(sandbox, app, found));
  });

  router.post('/app/installations/:id/access_tokens', express.json({ type: () => true }), async (req, res) => {
    const app = await appOf(sandbox, req.headers.authorization);
    const installation = installations(app).find(({ id }) => id === numberParam(req, 'id'));
    if (!installation) throw notFound();
    requireActive(installation);
    const request = readBody(TokenRequest, req, 'InstallationToken');
    const repos = requestedRepos(sandbox, installation, request);
    const permissions = requestedPermissions(app, request);
    const { token, expiresAt } = addGrant(sandbox, installation, { repos, permissions });
    res.status(201).json({
      token,
      expires_at: expiresAt,
      permissions,
      repository_selection: repos || installation.repoIds ? 'selected' : 'all',
      ...(repos && { repositories: repos.map((repo) => renderRepo(sandbox, repo)) }),
    });
  });
  /** The installation that the path names; 404 for one of another app. */
  const ownInstallation = async (req: Request) => {
    const app = await appOf(sandbox, req.headers.authorization);
    const found = installations(app).find(({ id }) => id === numberParam(req, 'id'));
    if (!found) throw notFound();
    return { app, found };
  };
  const suspension = router.route('/app/installations/:id/suspended');
  suspension.put(async (req, res) => {
    const { app, found } = await ownInstallation(req);
    const suspended = { ...found, suspendedAt: timestamp(sandbox) };
    state.put('installation', GLOBAL, suspended);
    notifyApp(sandbox, app, suspended, { action: 'suspend' });
    res.status(204).end();
  });
  suspension.delete(async (req, res) => {
    const { app, found } = await ownInstallation(req);
    const active = { ...found, suspendedAt: undefined };
    state.put('installation', GLOBAL, active);
    notifyApp(sandbox, app, active, { action: 'unsuspend' });
    res.status(204).end();
  });
  router.delete('/app/installations/:id', async (req, res) => {
    const { app, found } = await ownInstallation(req);
    state.remove('installation', GLOBAL, found.id);
    notifyApp(sandbox, app, found, { action: 'deleted' });
    res.status(204).end();
  });
  return router;
}

/** null = all repos of the installation. */
function requestedRepos(
  { state }: Sandbox,
  installation: InstallationRecord,
  request: TokenRequest,
): RepoRecord[] | null {
  const { repositories, repository_ids: ids } = request;
  if (!repositories && !ids) return null;
  const own = state.list('repo', GLOBAL).filter((repo) => reaches(installation, repo));
  const requested = [
    ...(repositories ?? []).map((name) => own.find((repo) => same(repo.name, name))),
    ...(ids ?? []).map((id) => own.find((repo) => repo.id === id)),
  ];
  return requested.map((repo) => {
    if (repo) return repo;
    throw new Failure(
      422,
      'There is at least one repository that does not exist or is not accessible to the parent installation.',
    );
  });
}

function requestedPermissions(app: AppRecord, { permissions }: TokenRequest): Grant['permissions'] {
  if (!permissions) return permissionsOf(app);
  const held: Record<string, string> = permissionsOf(app);
  for (const [name, level] of Object.entries(permissions)) {
    if (held[name] === 'write' ? level !== 'admin' : held[name] === level) continue;
    throw new Failure(422, 'The permissions requested are not granted to this installation.');
  }
  return { ...(permissions as Grant['permissions']), metadata: 'read' };
}

const same = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();
