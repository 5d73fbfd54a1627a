import { requireAppKey, StartError } from '@pipeline/runtime';
import type { HostAccess, HostKind } from '../hosts/hosts.ts';
import type { MonitorEnv } from './env.ts';

/**
 * Returns the access to each host that the environment configures. An app has precedence over a token.
 * @throws StartError for an incomplete configuration.
 */
export function hostAccess(env: MonitorEnv): Partial<Record<HostKind, HostAccess>> {
  const githubApp = requireAppKey('GITHUB', env.GITHUB_APP_ID, env.GITHUB_APP_PRIVATE_KEY);
  const sandboxApp = requireAppKey('SANDBOX', env.SANDBOX_APP_ID, env.SANDBOX_APP_PRIVATE_KEY);
  const github = githubApp ?? tokenAccess(env.GITHUB_TOKEN);
  const sandbox = sandboxApp ?? tokenAccess(env.SANDBOX_TOKEN);
  if (env.SANDBOX_URL && !sandbox) throw new StartError('SANDBOX_TOKEN: must be set when SANDBOX_URL is set');
  if (!env.SANDBOX_URL && sandboxApp) throw new StartError('SANDBOX_URL: must be set when SANDBOX_APP_ID is set');
  return {
    ...(github && { github: { apiUrl: env.GITHUB_API_URL, ...github } }),
    ...(env.SANDBOX_URL && sandbox && { sandbox: { apiUrl: env.SANDBOX_URL, ...sandbox } }),
  };
}

const tokenAccess = (token: string | undefined) => (token ? { token } : null);
