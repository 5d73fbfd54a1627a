import { createHash, randomBytes } from 'node:crypto';
import type { Surface } from '@pipeline/contract';
import { bearer, type UserLogin } from '../../target/credentials.ts';
import type { Check } from '../check.ts';
import { CheckSkipped, must, mustEqual } from '../outcome.ts';
import { type Fields, NO_CREDENTIAL, type Probe, postForm } from '../probe.ts';
import { Browser } from './browser.ts';

/** No program listens there: the browser of the checks reads the code from the redirect. */
const CALLBACK = 'http://127.0.0.1:49152/callback';
const LOGIN = '/account/login';
const anonymous = { credential: NO_CREDENTIAL };

interface Tokens {
  access: string;
  refresh: string;
}

/** A program that is registered, and what it needs to ask a user for access. */
interface Program {
  login: UserLogin;
  clientId: string;
  issuer: string;
  resource: string;
  verifier: string;
  state: string;
}

/** @throws CheckSkipped when no login was given, or the target takes no more registrations. */
async function register(probe: Probe): Promise<Program> {
  const { login } = probe.tested;
  if (!login) throw new CheckSkipped('no login of a user was given (--login-email)');
  const metadata = await probe.send('/.well-known/oauth-protected-resource', anonymous);
  const { resource, authorization_servers } = metadata.json<{ resource: string; authorization_servers: string[] }>();
  const client = { client_name: 'pipeline-contract', redirect_uris: [CALLBACK] };
  const sent = { ...anonymous, method: 'POST', body: JSON.stringify(client) };
  const answer = await probe.send('/oauth/register', sent);
  if (answer.status === 429) throw new CheckSkipped('the target takes no more registrations for now');
  mustEqual('status of the registration', answer.status, 201);
  const verifier = randomBytes(32).toString('base64url');
  const { client_id: clientId } = answer.json<{ client_id: string }>();
  return { login, clientId, issuer: authorization_servers[0] ?? '', resource, verifier, state: verifier.slice(0, 12) };
}

const challengeOf = (verifier: string): string => createHash('sha256').update(verifier).digest('base64url');

function authorizationOf({ clientId, resource, verifier, state }: Program, challenge?: Fields): string {
  const request = { client_id: clientId, response_type: 'code', redirect_uri: CALLBACK, state, resource };
  const pkce = { code_challenge: challengeOf(verifier), code_challenge_method: 'S256' };
  return `/oauth/authorize?${new URLSearchParams({ ...request, ...(challenge ?? pkce) })}`;
}

/** Logs the user in for the program. @returns the browser, which shows the question of consent, and the form's action. */
async function askConsent(probe: Probe, program: Program) {
  const browser = new Browser(probe, program.issuer);
  await browser.open(authorizationOf(program));
  must(browser.shows(LOGIN), 'an authorization request of nobody does not lead to the login form');
  await browser.submit(LOGIN, { ...program.login });
  must(!browser.shows(LOGIN), `the login of ${program.login.email} is refused`);
  const [action = ''] = /\/oauth\/interaction\/[^/?]+/.exec(probe.last?.request.address ?? '') ?? [];
  return { browser, action: `${action}/confirm` };
}

/** Answers the question of consent, then logs the user out. @returns the redirect to the program. */
async function decide(probe: Probe, program: Program, decision: 'allow' | 'deny'): Promise<URL> {
  const { browser, action } = await askConsent(probe, program);
  const organisation = browser.choiceOf(action, 'organisation');
  const callback = await browser.submit(action, { decision, ...(organisation !== undefined && { organisation }) });
  must(callback !== null, `the decision "${decision}" leads to a page, not to the program`);
  mustEqual('address of the redirect', `${callback.origin}${callback.pathname}`, CALLBACK);
  mustEqual('state of the redirect', callback.searchParams.get('state'), program.state);
  mustEqual('iss of the redirect', callback.searchParams.get('iss'), program.issuer);
  await browser.open('/account/connections');
  await browser.submit('/account/logout', {});
  return callback;
}

async function codeFor(probe: Probe, program: Program): Promise<string> {
  const code = (await decide(probe, program, 'allow')).searchParams.get('code');
  must(code !== null, 'the redirect carries no code');
  return code;
}

const redeem = (probe: Probe, { clientId, verifier }: Program, code: string, more: Fields = {}) =>
  postForm(probe, '/oauth/token', {
    ...{ grant_type: 'authorization_code', client_id: clientId, code, redirect_uri: CALLBACK },
    ...{ code_verifier: verifier, ...more },
  });

const refresh = (probe: Probe, { clientId }: Program, token: string) =>
  postForm(probe, '/oauth/token', { grant_type: 'refresh_token', client_id: clientId, refresh_token: token });

type TokenAnswer = Awaited<ReturnType<typeof refresh>>;

/** @throws CheckFailed unless the answer holds both tokens in the form of RFC 6749. */
function tokensOf(answer: TokenAnswer): Tokens {
  mustEqual('status of the token request', answer.status, 200);
  mustEqual('cache-control of tokens', answer.headers.get('cache-control'), 'no-store');
  const body = answer.json<Record<string, unknown>>();
  mustEqual('token_type and scope', [body.token_type, body.scope], ['Bearer', 'pipeline:read']);
  must(Number(body.expires_in) > 0, `expires_in is ${body.expires_in}`);
  const [access, token] = [String(body.access_token), String(body.refresh_token)];
  must(/^mcp_at_[\w-]{43}$/.test(access), 'the access token is not mcp_at_ and 43 characters');
  must(/^mcp_rt_[\w-]{43}$/.test(token), 'the refresh token is not mcp_rt_ and 43 characters');
  return { access, refresh: token };
}

function mustRefuse(what: string, { status, ...answer }: TokenAnswer): void {
  mustEqual(`status of ${what}`, status, 400);
  mustEqual(`error of ${what}`, answer.json<{ error: string }>().error, 'invalid_grant');
}

const statusWith = async (probe: Probe, token: string): Promise<number> =>
  (await probe.send('/api/cli/bootstrap', { credential: bearer('issued token', token, 'TOKEN') })).status;

const revoke = async (probe: Probe, { clientId }: Program, token: string): Promise<void> =>
  mustEqual(
    'status of the revocation',
    (await postForm(probe, '/oauth/revoke', { client_id: clientId, token })).status,
    200,
  );

const redeemsCodes: Check = {
  suite: 'oauth',
  endpoint: 'authorize',
  name: 'gives a program that a user allows a code, good once and only with its verifier',
  async run(probe) {
    const program = await register(probe);
    const guessed = await redeem(probe, program, await codeFor(probe, program), { code_verifier: 'x'.repeat(43) });
    mustRefuse('a code with another verifier', guessed);
    const code = await codeFor(probe, program);
    const tokens = tokensOf(await redeem(probe, program, code));
    mustEqual('status with the access token', await statusWith(probe, tokens.access), 200);
    mustEqual('status with the refresh token as access token', await statusWith(probe, tokens.refresh), 401);
    mustRefuse('a code that was used', await redeem(probe, program, code));
    mustEqual('status with the token of a code that was used twice', await statusWith(probe, tokens.access), 401);
  },
};

const rotates: Check = {
  suite: 'oauth',
  endpoint: 'token',
  name: 'replaces a refresh token at each use, and ends all tokens when a replaced one is used again',
  async run(probe) {
    const program = await register(probe);
    const first = tokensOf(await redeem(probe, program, await codeFor(probe, program)));
    const second = tokensOf(await refresh(probe, program, first.refresh));
    must(second.refresh !== first.refresh, 'the refresh token is the same after its use');
    must(second.access !== first.access, 'the access token is the same after a refresh');
    mustEqual('status with the new access token', await statusWith(probe, second.access), 200);
    mustRefuse('a replaced refresh token', await refresh(probe, program, first.refresh));
    for (const { access } of [first, second])
      mustEqual('status after the use of a replaced refresh token', await statusWith(probe, access), 401);
    mustRefuse('the latest refresh token after that', await refresh(probe, program, second.refresh));
  },
};

const revokes: Check = {
  suite: 'oauth',
  endpoint: 'revokeToken',
  name: 'ends every token of a connection at once when one is revoked, and no other connection',
  async run(probe) {
    const program = await register(probe);
    const other = tokensOf(await redeem(probe, program, await codeFor(probe, program)));
    for (const name of ['refresh', 'access'] as const) {
      const tokens = tokensOf(await redeem(probe, program, await codeFor(probe, program)));
      await revoke(probe, program, tokens[name]);
      mustEqual(`status after the ${name} token was revoked`, await statusWith(probe, tokens.access), 401);
      mustRefuse('a refresh token that was revoked', await refresh(probe, program, tokens.refresh));
    }
    mustEqual('status with the token of another connection', await statusWith(probe, other.access), 200);
    await revoke(probe, program, other.refresh);
  },
};

const asksUsers: Check = {
  suite: 'oauth',
  endpoint: 'decideConsent',
  name: 'gives no code without PKCE by S256, the right password and the consent of the user',
  async run(probe) {
    const program = await register(probe);
    for (const challenge of [{}, { code_challenge: 'x'.repeat(43), code_challenge_method: 'plain' }]) {
      const { status } = await probe.send(authorizationOf(program, challenge), anonymous);
      mustEqual('status without PKCE by S256', status, 400);
    }
    const browser = new Browser(probe, program.issuer);
    await browser.open(authorizationOf(program));
    await browser.submit(LOGIN, { ...program.login, password: `${program.login.password}x` });
    must(browser.shows(LOGIN), 'a wrong password is accepted');
    const { searchParams } = await decide(probe, program, 'deny');
    mustEqual('error after a refusal', searchParams.get('error'), 'access_denied');
    mustEqual('code after a refusal', searchParams.get('code'), null);
  },
};

/**
 * Checks that need a login. Connections are ended and the user is logged out; a registered client without a connection
 * remains, which the service prunes.
 */
export const oauthLifeChecks = ({ routes }: Surface): readonly Check[] =>
  routes.some(({ id }) => id === 'getAuthorizationServer') ? [redeemsCodes, rotates, revokes, asksUsers] : [];
