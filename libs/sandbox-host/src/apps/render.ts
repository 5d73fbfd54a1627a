import { nodeId, renderUser } from '../render/basics.ts';
import type { AppRecord, InstallationRecord } from '../state/app-records.ts';
import type { Sandbox } from '../state/model.ts';
import { timestamp } from '../state/sandbox.ts';
import { botOf, permissionsOf } from './grants.ts';

/** GitHub's `integration`. */
export function renderApp(sandbox: Sandbox, app: AppRecord, installationsCount: number) {
  return {
    id: app.id,
    node_id: nodeId('App', app.id),
    slug: app.slug,
    owner: renderUser(sandbox, app.owner ?? botOf(app)),
    name: app.name ?? app.slug,
    description: null,
    external_url: app.homepage ?? sandbox.url(),
    html_url: `${sandbox.url()}/apps/${app.slug}`,
    permissions: permissionsOf(app),
    events: app.events ?? [],
    installations_count: installationsCount,
    created_at: app.createdAt,
    updated_at: app.createdAt,
  };
}

/** GitHub's `installation`. */
export function renderInstallation(sandbox: Sandbox, app: AppRecord, installation: InstallationRecord) {
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
    repository_selection: installation.repoIds ? 'selected' : 'all',
    permissions: permissionsOf(app),
    events: app.events ?? [],
    single_file_name: null,
    suspended_at: installation.suspendedAt ?? null,
    suspended_by: installation.suspendedAt ? account : null,
    created_at: installation.createdAt,
    updated_at: timestamp(sandbox),
  };
}
