import { html } from '@pipeline/domain';
import express, { type Response, Router } from 'express';
import { z } from 'zod';
import { Failure, notFound } from '../http/failure.ts';
import { sendPage } from '../http/page.ts';
import { readBody } from '../http/request.ts';
import { renderUser } from '../render/basics.ts';
import type { AppRecord, InstallationRecord } from '../state/app-records.ts';
import { GLOBAL, type RepoRecord, type Sandbox } from '../state/model.ts';
import { change, findRepo, timestamp } from '../state/sandbox.ts';
import { reaches } from './grants.ts';
import { namedRepos, notifyApp } from './notify.ts';
import { requireOwner } from './registration.ts';
import { renderInstallation } from './render.ts';

const Form = z.object({ repositories: z.string().max(10_000).default(''), token: z.string() });

/** The page of an app and its installation on all or some repositories of the account that registered it. */
export function installRoutes(sandbox: Sandbox): Router {
  const router = Router();
  const { state } = sandbox;
  const appOf = (slug: string): AppRecord & { owner: string } => {
    const app = state.list('app', GLOBAL).find((each) => each.slug === slug);
    if (app?.owner === undefined) throw notFound();
    return { ...app, owner: app.owner };
  };

  router.get('/apps/:slug', (req, res) => {
    const { name, slug, owner } = appOf(req.params.slug);
    const body = html`<p>A private GitHub App of ${owner}.</p><p><a href="/apps/${slug}/installations/new">Install</a></p>`;
    sendPage(res, name ?? slug, body);
  });
  router.get('/apps/:slug/installations/new', (req, res) => installPage(res, appOf(req.params.slug)));
  router.post('/apps/:slug/installations/new', express.urlencoded({ extended: false, limit: '20kb' }), (req, res) => {
    const app = appOf(req.params.slug);
    const { repositories, token } = readBody(Form, req, 'Installation');
    try {
      const { login } = requireOwner(sandbox, token, app.owner);
      const repoIds = selectedIds(sandbox, app.owner, repositories);
      const { id } = change(sandbox, () => install(sandbox, app, { repoIds, by: login }));
      const where = repoIds === null ? 'all repositories' : repositories;
      sendPage(res, 'Installed', html`<p>${app.slug} is installed on ${app.owner}: ${where} (installation ${id}).</p>`);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      installPage(res, app, error);
    }
  });
  return router;
}

function installPage(res: Response, { slug, name, owner }: AppRecord & { owner: string }, error?: Failure): void {
  const body = html`${error ? html`<p role="alert">${error.message}</p>` : null}
<form method="post" action="/apps/${slug}/installations/new">
<p>Account: ${owner}</p>
<p><label>Repositories, separated by spaces; empty = all <input name="repositories"></label></p>
<p><label>Your token on this host <input type="password" name="token" autocomplete="off" required></label></p>
<button>Install</button></form>`;
  sendPage(res, `Install ${name ?? slug}`, body, error?.status ?? 200);
}

/** @returns null for all. @throws Failure 422 naming a repository that the account does not have. */
function selectedIds(sandbox: Sandbox, owner: string, text: string): number[] | null {
  const names = text.split(/[\s,]+/).filter((name) => name !== '');
  if (names.length === 0) return null;
  return names.map((name) => {
    const repo = findRepo(sandbox, owner, name.replace(/^[^/]*\//, ''));
    if (!repo) throw new Failure(422, `${owner} has no repository ${name}`);
    return repo.id;
  });
}

/** Installs the app, or changes the selection of its installation, and notifies the webhook of the app. */
function install(sandbox: Sandbox, app: AppRecord & { owner: string }, to: { repoIds: number[] | null; by: string }) {
  const { state, deliveries } = sandbox;
  const known = state.list('installation', GLOBAL).find(({ appId }) => appId === app.id);
  const fresh = { id: known?.id ?? state.nextId(), appId: app.id, owner: app.owner };
  const saved: InstallationRecord = {
    ...fresh,
    repoIds: to.repoIds,
    createdAt: known?.createdAt ?? timestamp(sandbox),
    suspendedAt: known?.suspendedAt,
  };
  state.put('installation', GLOBAL, saved);
  if (!known) {
    notifyApp(sandbox, app, saved, { action: 'created', by: to.by });
    return saved;
  }
  const hook = state.list('hook', GLOBAL).find(({ appId }) => appId === app.id);
  if (!hook) return saved;
  const around = { installation: renderInstallation(sandbox, app, saved), sender: renderUser(sandbox, to.by) };
  const repos = state.list('repo', GLOBAL);
  const named = (list: RepoRecord[]) => namedRepos(sandbox, list);
  const added = named(repos.filter((repo) => reaches(saved, repo) && !reaches(known, repo)));
  const removed = named(repos.filter((repo) => reaches(known, repo) && !reaches(saved, repo)));
  for (const action of ['added', 'removed'] as const) {
    if ((action === 'added' ? added : removed).length === 0) continue;
    const lists = {
      repositories_added: action === 'added' ? added : [],
      repositories_removed: action === 'removed' ? removed : [],
    };
    const selection = around.installation.repository_selection;
    const payload = { action, ...around, repository_selection: selection, ...lists, requester: null };
    deliveries.emit('installation_repositories', payload, hook.id);
  }
  return saved;
}
