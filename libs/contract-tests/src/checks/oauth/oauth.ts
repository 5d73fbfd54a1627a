import type { Surface } from '@pipeline/contract';
import { requestToken } from '../../target/client-credentials.ts';
import type { Credential } from '../../target/credentials.ts';
import { bearer } from '../../target/credentials.ts';
import type { TargetError } from '../../target/target-error.ts';
import type { Check } from '../check.ts';
import { CheckFailed, CheckSkipped, must, mustEqual } from '../outcome.ts';
import { NO_CREDENTIAL, type Probe, postForm } from '../probe.ts';

interface ServerMetadata {
  issuer: string;
  authorization_endpoint: string;
  token_endpoint: string;
  revocation_endpoint: string;
  code_challenge_methods_supported: string[];
}

const anonymous = { credential: NO_CREDENTIAL };

/** The OAuth life: first what needs no login and leaves nothing behind. */
export const oauthChecks = ({ routes }: Surface): Check[] =>
  routes.some(({ id }) => id === 'getAuthorizationServer') ? WITHOUT_LOGIN : [];

const metadataOf = async (probe: Probe): Promise<ServerMetadata> =>
  (await probe.send('/.well-known/oauth-authorization-server', anonymous)).json();

const describesItself: Check = {
  suite: 'oauth',
  endpoint: 'getAuthorizationServer',
  name: 'names one issuer whose endpoints share its origin, with PKCE by S256 alone',
  async run(probe) {
    const server = await metadataOf(probe);
    mustEqual('code_challenge_methods_supported', server.code_challenge_methods_supported, ['S256']);
    const { origin } = new URL(server.issuer);
    for (const name of ['authorization_endpoint', 'token_endpoint', 'revocation_endpoint'] as const)
      mustEqual(`origin of ${name}`, new URL(server[name]).origin, origin);
    const resource = await probe.send('/.well-known/oauth-protected-resource', anonymous);
    const { authorization_servers } = resource.json<{ authorization_servers: string[] }>();
    mustEqual('authorization_servers', authorization_servers, [server.issuer]);
  },
};

const challenges: Check = {
  suite: 'oauth',
  endpoint: 'getProtectedResource',
  name: 'leads a client without a token to the metadata of the resource',
  async run(probe) {
    const { headers, status } = await probe.send('/api/cli/bootstrap', anonymous);
    mustEqual('status', status, 401);
    const address = /resource_metadata="([^"]+)"/.exec(headers.get('www-authenticate') ?? '')?.[1];
    must(address !== undefined, `www-authenticate is ${headers.get('www-authenticate')}`);
    const { pathname } = new URL(address);
    mustEqual('status of the named metadata', (await probe.send(pathname, anonymous)).status, 200);
  },
};

const refusesGrants: Check = {
  suite: 'oauth',
  endpoint: 'token',
  name: 'refuses unknown clients, codes and refresh tokens with OAuth errors and no token',
  async run(probe) {
    const client = { client_id: 'pipeline-contract-absent' };
    const grants: Record<string, string>[] = [
      { grant_type: 'authorization_code', code: 'x', code_verifier: 'x'.repeat(43), redirect_uri: 'http://127.0.0.1/' },
      { grant_type: 'refresh_token', refresh_token: 'x' },
      { grant_type: 'client_credentials' },
      { grant_type: 'password', username: 'x', password: 'x' },
    ];
    for (const grant of grants) {
      const answer = await postForm(probe, '/oauth/token', { ...client, ...grant });
      must([400, 401].includes(answer.status), `status of ${grant.grant_type} is ${answer.status}`);
      const body = answer.json<{ error?: string; access_token?: string }>();
      must(typeof body.error === 'string' && body.access_token === undefined, `body: ${answer.body.slice(0, 200)}`);
      mustEqual('cache-control', answer.headers.get('cache-control'), 'no-store');
    }
  },
};

const forgetsUnknownTokens: Check = {
  suite: 'oauth',
  endpoint: 'revokeToken',
  name: 'does not say whether a token exists',
  async run(probe) {
    const { status } = await postForm(probe, '/oauth/revoke', { token: 'x', client_id: 'pipeline-contract-absent' });
    must([200, 400, 401].includes(status), `status is ${status}`);
  },
};

const refusesAuthorization: Check = {
  suite: 'oauth',
  endpoint: 'authorize',
  name: 'sends nobody to the address of an unknown client',
  async run(probe) {
    const query = new URLSearchParams({
      client_id: 'pipeline-contract-absent',
      response_type: 'code',
      scope: 'pipeline:read',
      redirect_uri: 'http://127.0.0.1:9/callback',
    });
    const { status, headers } = await probe.send(`/oauth/authorize?${query}`, anonymous);
    must(status >= 400, `status is ${status}`);
    mustEqual('location', headers.get('location'), null);
  },
};

/** Checks the end of tokens with the client of the run: the token in use stays, another one is issued and revoked. */
const endsTokens: Check = {
  suite: 'oauth',
  endpoint: 'revokeToken',
  name: 'ends a token at once when its client revokes it, and that one alone',
  async run(probe) {
    const { client, target } = probe.tested;
    if (!client) throw new CheckSkipped('no client credentials were given');
    const { token } = await requestToken(target.url, client).catch((error: TargetError) => {
      throw new CheckFailed(error.message);
    });
    const statusOf = async (credential?: Credential) =>
      (await probe.send('/api/cli/bootstrap', credential && { credential })).status;
    const issued = bearer('issued token', token, 'TOKEN');
    mustEqual('status with the token', await statusOf(issued), 200);
    const fields = { token, client_id: client.clientId, client_secret: client.clientSecret };
    mustEqual('status of the revocation', (await postForm(probe, '/oauth/revoke', fields)).status, 200);
    mustEqual('status with the revoked token', await statusOf(issued), 401);
    mustEqual('status with another token of the client', await statusOf(), 200);
  },
};

const WITHOUT_LOGIN = [
  describesItself,
  challenges,
  refusesGrants,
  forgetsUnknownTokens,
  refusesAuthorization,
  endsTokens,
];
