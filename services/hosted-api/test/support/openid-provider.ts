import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { jest } from '@jest/globals';
import { serverClosedWithFile } from '@pipeline/testing/closing';
import Provider, { type AccountClaims } from 'oidc-provider';

export const CLIENT = { id: 'pipeline-client', secret: 'a secret of the tests, long enough' };

export interface TestProvider {
  issuer: string;
  /** Claims of the person at the browser; null = the person refuses. */
  person: (Omit<AccountClaims, 'sub'> & { sub: string }) | null;
  /** True = requests other than those of the browser are answered. */
  isUp: boolean;
}

/** A real OpenID Connect provider with one client. Its pages are answered by themselves, for one person. */
export async function startOpenidProvider(redirectUri: string): Promise<TestProvider> {
  const server = createServer();
  serverClosedWithFile(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const test: TestProvider = { issuer, person: null, isUp: true };
  const accounts = new Map<string, AccountClaims>();
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  // It warns of its store in memory, which suits a test.
  const warn = jest.spyOn(console, 'warn').mockReturnValue();
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: CLIENT.id,
        client_secret: CLIENT.secret,
        redirect_uris: [redirectUri],
        grant_types: ['authorization_code'],
        response_types: ['code'],
      },
    ],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['preferred_username'] },
    cookies: { keys: ['keys of the provider of the tests'] },
    features: { devInteractions: { enabled: false } },
    findAccount: (_ctx, sub) => ({ accountId: sub, claims: () => accounts.get(sub) ?? { sub } }),
    interactions: { url: (_ctx, { uid }) => `/interaction/${uid}` },
    async loadExistingGrant(ctx) {
      const { client, session } = ctx.oidc;
      const grant = new ctx.oidc.provider.Grant({
        clientId: client?.clientId ?? '',
        accountId: session?.accountId ?? '',
      });
      grant.addOIDCScope('openid email profile');
      await grant.save();
      return grant;
    },
    jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), alg: 'RS256', use: 'sig' } as never] },
    pkce: { required: () => true },
    ttl: { AccessToken: 60, AuthorizationCode: 60, Grant: 60, IdToken: 60, Interaction: 60, Session: 60 },
  });
  warn.mockRestore();
  const answer = provider.callback();
  server.on('request', (request, response) => {
    if (!test.isUp) return void response.writeHead(500).end('down');
    if (!request.url?.startsWith('/interaction/')) return void answer(request, response);
    const { person } = test;
    if (person) accounts.set(person.sub, person);
    const result = person
      ? { login: { accountId: person.sub, remember: false } }
      : { error: 'access_denied', error_description: 'the person refused' };
    void provider.interactionFinished(request, response, result);
  });
  return test;
}
