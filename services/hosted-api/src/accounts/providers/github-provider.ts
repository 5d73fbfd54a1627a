import { hostUrls } from '@pipeline/vcs';
import { ClientSecretPost, Configuration, fetchProtectedResource } from 'openid-client';
import { z } from 'zod';
import { finishCodeFlow, insecureIf, startCodeFlow, TIMEOUT_SECONDS, withProvider } from './code-flow.ts';
import type { IdentityProvider } from './identity-provider.ts';

export interface GithubOptions {
  /** Address of its pages: `https://github.com`, or that of a GitHub Enterprise Server. */
  url: string;
  clientId: string;
  clientSecret: string;
  label: string;
}

const User = z.object({ id: z.int().positive(), login: z.string().min(1) });

/**
 * Logins by GitHub: OAuth without OpenID Connect. The subject is the numeric id of the account, because a login name can be
 * given up and taken by another person. No scope is requested: only public information is read, and no email address is used.
 */
export function githubProvider(
  { url, clientId, clientSecret, label }: GithubOptions,
  redirectUri: string,
): IdentityProvider {
  const { web, api } = hostUrls(url);
  const config = new Configuration(
    {
      issuer: web,
      authorization_endpoint: `${web}/login/oauth/authorize`,
      token_endpoint: `${web}/login/oauth/access_token`,
    },
    clientId,
    undefined,
    ClientSecretPost(clientSecret),
  );
  config.timeout = TIMEOUT_SECONDS;
  for (const allow of insecureIf(web)) allow(config);
  return {
    id: 'github',
    label,
    authorizationUrl: (secrets) =>
      withProvider(() => startCodeFlow(config, secrets, { redirect_uri: redirectUri, allow_signup: 'false' })),
    identify: (query, secrets) =>
      withProvider(async () => {
        const { access_token: token } = await finishCodeFlow(config, { redirectUri, query, nonce: null }, secrets);
        const headers = new Headers({ accept: 'application/vnd.github+json' });
        const response = await fetchProtectedResource(config, token, new URL(`${api}/user`), 'GET', null, headers);
        if (!response.ok) throw new Error(`GET ${api}/user returned ${response.status}`);
        const { id, login } = User.parse(await response.json());
        return { issuer: web, subject: String(id), name: login };
      }),
  };
}
