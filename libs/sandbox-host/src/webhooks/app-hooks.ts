import { GLOBAL, type HookRecord, type Store } from '../state/model.ts';

/**
 * Returns what a hook gets of an event: the payload, for the hook of an app with the installation; null when the app
 * does not subscribe to the event or is not installed on the repository.
 */
export function payloadFor(state: Store, hook: HookRecord, event: string, payload: object): object | null {
  if (hook.appId === undefined) return payload;
  const app = state.get('app', GLOBAL, hook.appId);
  if (!app || hook.secret === '' || !app.events?.includes(event)) return null;
  const repoId = 'repository' in payload ? (payload.repository as { id: number }).id : 0;
  const repo = state.get('repo', GLOBAL, repoId);
  const installation = state
    .list('installation', GLOBAL)
    .filter(({ appId }) => appId === app.id)
    .find(({ repoIds, owner }) => repoIds?.includes(repoId) ?? owner.toLowerCase() === repo?.owner.toLowerCase());
  return installation ? { ...payload, installation: { id: installation.id, node_id: '' } } : null;
}
