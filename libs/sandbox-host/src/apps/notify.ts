import { renderRepo, renderUser } from '../render/basics.ts';
import type { AppRecord, InstallationRecord } from '../state/app-records.ts';
import { GLOBAL, type RepoRecord, type Sandbox } from '../state/model.ts';
import { reaches } from './grants.ts';
import { renderInstallation } from './render.ts';

/** Sends the webhook of an app the `installation` event, if it has one. */
export function notifyApp(
  sandbox: Sandbox,
  app: AppRecord,
  installation: InstallationRecord,
  { action, by = installation.owner }: { action: 'created' | 'deleted' | 'suspend' | 'unsuspend'; by?: string },
): void {
  const { state, deliveries } = sandbox;
  const hook = state.list('hook', GLOBAL).find(({ appId }) => appId === app.id);
  if (!hook) return;
  const reached = state.list('repo', GLOBAL).filter((repo) => reaches(installation, repo));
  const around = { installation: renderInstallation(sandbox, app, installation), sender: renderUser(sandbox, by) };
  deliveries.emit('installation', { action, ...around, repositories: namedRepos(sandbox, reached) }, hook.id);
}

/** Repositories as the events of installations show them. */
export const namedRepos = (sandbox: Sandbox, repos: readonly RepoRecord[]) =>
  repos.map((repo) => {
    const { id, node_id, name, full_name, private: hidden } = renderRepo(sandbox, repo);
    return { id, node_id, name, full_name, private: hidden };
  });
