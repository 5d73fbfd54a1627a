import express, { Router } from 'express';
import { z } from 'zod';
import { Failure, notFound } from '../http/failure.ts';
import { numberParam, readBody } from '../http/request.ts';
import { renderRepo, renderUser } from '../render/basics.ts';
import {
  type AppRecord,
  GLOBAL,
  type Grant,
  type InstallationRecord,
  type RepoRecord,
  type Sandbox,
} from '../state/model.ts';
import { findRepo, timestamp } from '../state/sandbox.ts';
import { addGrant, appOf, permissionsOf } from './grants.ts';

const TokenRequest = z.strictObject({
  repositories: z.array(z.string()).min(1).optional(),
  repository_ids: z.array(z.int()).min(1).optional(),
  permissions: z.record(z.string(), z.enum(['read', 'write', 'admin'])).optional(),
});
type TokenRequest = z.output<typeof TokenRequest>;

/** What an app does as itself, with a signed assertion in place of a token. */
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
    const repo = findRepo(sandbox, req.params.owner, req.params.repo);
    const found = repo && installations(app).find((each) => same(each.owner, repo.owner));
    if (!found) throw notFound();
    res.json(renderInstallation(sandbox, app, found));
  });

  router.post('/app/installations/:id/access_tokens', express.json({ type: () => true }), async (req, res) => {
    const app = await appOf(sandbox, req.headers.authorization);
    const installation = installations(app).find(({ id }) => id === numberParam(req, 'id'));
    if (!installation) throw notFound();
    const wish = readBody(TokenRequest, req, 'InstallationToken');
    const repos = requestedRepos(sandbox, installation, wish);
    const permissions = wishedPermissions(app, wish);
    const { token, expiresAt } = addGrant(sandbox, installation, { repos, permissions });
    res.status(201).json({
      token,
      expires_at: expiresAt,
      permissions,
      repository_selection: repos ? 'selected' : 'all',
      ...(repos && { repositories: repos.map((repo) => renderRepo(sandbox, repo)) }),
    });
  });
  return router;
}

/** null = all repos of the installation. */
function requestedRepos({ state }: Sandbox, { owner }: InstallationRecord, wish: TokenRequest): RepoRecord[] | null {
  const { repositories, repository_ids: ids } = wish;
  if (!repositories && !ids) return null;
  const own = state.list('repo', GLOBAL).filter((repo) => same(repo.owner, owner));
  const wished = [
    ...(repositories ?? []).map((name) => own.find((repo) => same(repo.name, name))),
    ...(ids ?? []).map((id) => own.find((repo) => repo.id === id)),
  ];
  return wished.map((repo) => {
    if (repo) return repo;
    throw new Failure(
      422,
      'There is at least one repository that does not exist or is not accessible to the parent installation.',
    );
  });
}

function wishedPermissions(app: AppRecord, { permissions }: TokenRequest): Grant['permissions'] {
  if (!permissions) return permissionsOf(app);
  const held: Record<string, string> = permissionsOf(app);
  for (const [name, level] of Object.entries(permissions)) {
    if (held[name] === 'write' ? level !== 'admin' : held[name] === level) continue;
    throw new Failure(422, 'The permissions requested are not granted to this installation.');
  }
  return { ...(permissions as Grant['permissions']), metadata: 'read' };
}

const same = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();

function renderApp(sandbox: Sandbox, app: AppRecord, installationsCount: number) {
  return {
    id: app.id,
    slug: app.slug,
    name: app.slug,
    description: null,
    external_url: sandbox.url(),
    html_url: `${sandbox.url()}/apps/${app.slug}`,
    permissions: permissionsOf(app),
    events: [],
    installations_count: installationsCount,
    created_at: app.createdAt,
    updated_at: app.createdAt,
  };
}

function renderInstallation(sandbox: Sandbox, app: AppRecord, installation: InstallationRecord) {
  const url = `${sandbox.url()}/app/installations/${installation.id}`;
  const account = renderUser(sandbox, installation.owner);
  return {
    id: installation.id,
    account,
    access_tokens_url: `${url}/access_tokens`,
    repositories_url: `${sandbox.url()}/installation/repositories`,
    html_url: `${sandbox.url()}/settings/installations/${installation.id}`,
    app_id: app.id,
    app_slug: app.slug,
    target_id: account.id,
    target_type: 'User',
    repository_selection: 'all',
    permissions: permissionsOf(app),
    events: [],
    single_file_name: null,
    suspended_at: null,
    suspended_by: null,
    created_at: installation.createdAt,
    updated_at: timestamp(sandbox),
  };
}
