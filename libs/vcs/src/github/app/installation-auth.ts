import type { Client } from '../client.ts';
import { answered } from '../errors.ts';
import type { InstallationTokens, RepoInstallation } from './installation-tokens.ts';

interface InstallationAuthOptions {
  tokens: InstallationTokens;
  target: RepoInstallation;
}

/**
 * Octokit auth strategy: authorizes every request with a token of the repo's installation. A request that the host
 * rejects with 401 is sent again with a new token; the host did not execute it.
 */
export function installationAuth({ tokens, target }: InstallationAuthOptions) {
  const auth = async () => ({ type: 'token', token: await tokens.tokenFor(target) });

  const hook = async (request: Client['request'], route: string, parameters?: Record<string, unknown>) => {
    const endpoint = request.endpoint.merge(route, parameters);
    const send = (token: string) => {
      endpoint.headers.authorization = `token ${token}`;
      return request(endpoint as never);
    };
    const token = await tokens.tokenFor(target);
    try {
      return await send(token);
    } catch (error) {
      if (!answered(error, 401)) throw error;
      await tokens.discard(target, token);
    }
    return send(await tokens.tokenFor(target));
  };
  return Object.assign(auth, { hook });
}
