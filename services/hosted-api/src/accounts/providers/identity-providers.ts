import type { PublicAddress } from '../../auth/public-address.ts';
import { type GithubOptions, githubProvider } from './github-provider.ts';
import type { IdentityProvider } from './identity-provider.ts';
import { type OpenidOptions, openidProvider } from './openid-provider.ts';

export interface ProviderOptions {
  openid?: OpenidOptions | undefined;
  github?: GithubOptions | undefined;
  /** Logins by providers that one address may begin in 5 minutes; 0 = no limit. */
  limit: number;
}

/** The configured providers, in the order of their buttons. No request is sent. */
export function identityProviders({ openid, github }: ProviderOptions, { origin }: PublicAddress): IdentityProvider[] {
  const redirectUri = (id: string) => `${origin}/account/login/${id}/callback`;
  return [
    ...(openid ? [openidProvider(openid, redirectUri('oidc'))] : []),
    ...(github ? [githubProvider(github, redirectUri('github'))] : []),
  ];
}
