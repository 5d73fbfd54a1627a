import type { Provider } from 'oidc-provider';
import { loadOauthLibrary, type OauthLibrary } from './library.ts';
import { createProvider, type ProviderDeps } from './provider.ts';

/** The library's server, and its errors, by whose classes they are told apart. */
export interface OauthServer {
  provider: Provider;
  errors: OauthLibrary['errors'];
  callback: ReturnType<Provider['callback']>;
}

/**
 * Returns a function that creates the server at its first call. Its library is large, and most replicas answer for hours
 * without a request that needs it.
 */
export function createServer(deps: Omit<ProviderDeps, 'library'>): () => Promise<OauthServer> {
  let created: Promise<OauthServer> | undefined;
  const create = async (): Promise<OauthServer> => {
    const library = await loadOauthLibrary();
    const provider = createProvider({ ...deps, library });
    return { provider, errors: library.errors, callback: provider.callback() };
  };
  return () => {
    created ??= create();
    return created;
  };
}
