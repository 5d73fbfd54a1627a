import { describe, expect, jest, test } from '@jest/globals';
import {
  auth,
  extractWWWAuthenticateParams,
  type OAuthClientInformationMixed,
  type OAuthClientProvider,
  type OAuthTokens,
} from '@modelcontextprotocol/client';
import * as oauth from 'openid-client';
import { CALLBACK, decide, logIn, type Person } from './oauth-world.ts';
import { world } from './world.ts';

/**
 * Logs in and allows the program, like a person in a browser. @returns the address at which the program is called back.
 */
async function allow(authorization: URL, person: Person): Promise<URL> {
  const browser = world.browser();
  await browser.open(authorization.href);
  await logIn(browser, person);
  return decide(browser, 'allow');
}

describe('openid-client', () => {
  const options: oauth.DynamicClientRegistrationRequestOptions = {
    algorithm: 'oauth2',
    execute: [oauth.allowInsecureRequests],
  };
  const metadata = { client_name: 'openid-client', redirect_uris: [CALLBACK] };

  const connectWith = async (config: oauth.Configuration, person: Person) => {
    const pkceCodeVerifier = oauth.randomPKCECodeVerifier();
    const expectedState = oauth.randomState();
    const authorization = oauth.buildAuthorizationUrl(config, {
      redirect_uri: CALLBACK,
      code_challenge: await oauth.calculatePKCECodeChallenge(pkceCodeVerifier),
      code_challenge_method: 'S256',
      state: expectedState,
      resource: world.resource,
      scope: 'pipeline:read',
    });
    const callback = await allow(authorization, person);
    return oauth.authorizationCodeGrant(config, callback, { pkceCodeVerifier, expectedState });
  };
  const call = async (config: oauth.Configuration, token: string) => {
    const url = new URL(`${world.front.url}/api/nothing`);
    try {
      return (await oauth.fetchProtectedResource(config, token, url, 'GET')).status;
    } catch (error) {
      if (!(error instanceof oauth.WWWAuthenticateChallengeError)) throw error;
      return error.status;
    }
  };
  const failure = (attempt: Promise<unknown>) =>
    attempt.then(
      () => 'succeeded',
      (error: unknown) => (error as oauth.ResponseBodyError).error,
    );

  test('discovers, registers, connects, calls, refreshes, and is cut off when a refresh token comes twice', async () => {
    const person = await world.person('acme');
    const config = await oauth.dynamicClientRegistration(new URL(world.front.url), metadata, oauth.None(), options);
    const first = await connectWith(config, person);
    expect([first.token_type, first.expires_in, first.scope]).toEqual(['bearer', 600, 'pipeline:read']);
    expect(await call(config, first.access_token)).toBe(404);
    const second = await oauth.refreshTokenGrant(config, first.refresh_token ?? '');
    expect(await call(config, second.access_token)).toBe(404);
    expect(await failure(oauth.refreshTokenGrant(config, first.refresh_token ?? ''))).toBe('invalid_grant');
    expect(await call(config, second.access_token)).toBe(401);
    expect(await failure(oauth.refreshTokenGrant(config, second.refresh_token ?? ''))).toBe('invalid_grant');
  });

  test('revokes, and connects again', async () => {
    const person = await world.person('acme');
    const config = await oauth.dynamicClientRegistration(new URL(world.front.url), metadata, oauth.None(), options);
    const first = await connectWith(config, person);
    await oauth.tokenRevocation(config, first.refresh_token ?? '');
    expect(await call(config, first.access_token)).toBe(401);
    const again = await connectWith(config, person);
    expect(await call(config, again.access_token)).toBe(404);
  });

  test('learns that the person refused', async () => {
    const config = await oauth.dynamicClientRegistration(new URL(world.front.url), metadata, oauth.None(), options);
    const pkceCodeVerifier = oauth.randomPKCECodeVerifier();
    const code_challenge = await oauth.calculatePKCECodeChallenge(pkceCodeVerifier);
    const browser = world.browser();
    const parameters = { redirect_uri: CALLBACK, code_challenge, code_challenge_method: 'S256' };
    await browser.open(oauth.buildAuthorizationUrl(config, parameters).href);
    await logIn(browser, await world.person('acme'));
    const callback = await decide(browser, 'deny');
    expect(await failure(oauth.authorizationCodeGrant(config, callback, { pkceCodeVerifier }))).toBe('access_denied');
  });
});

/** The state of an MCP client, as its programs keep it. */
class McpProgram implements OAuthClientProvider {
  readonly redirectUrl = CALLBACK;
  readonly clientMetadata = { redirect_uris: [CALLBACK], client_name: 'MCP program' };
  readonly clientMetadataUrl?: string;
  authorization: URL | undefined;
  #information: OAuthClientInformationMixed | undefined;
  #tokens: OAuthTokens | undefined;
  #verifier = '';

  constructor(clientMetadataUrl?: string) {
    if (clientMetadataUrl !== undefined) this.clientMetadataUrl = clientMetadataUrl;
  }
  clientInformation = () => this.#information;
  saveClientInformation = (information: OAuthClientInformationMixed) => {
    this.#information = information;
  };
  tokens = () => this.#tokens;
  saveTokens = (tokens: OAuthTokens) => {
    this.#tokens = tokens;
  };
  redirectToAuthorization = (url: URL) => {
    this.authorization = url;
  };
  saveCodeVerifier = (verifier: string) => {
    this.#verifier = verifier;
  };
  codeVerifier = () => this.#verifier;
}

describe("the MCP SDK's client", () => {
  const connectMcp = async (program: McpProgram) => {
    const serverUrl = `${world.front.url}/api/mcp`;
    const refused = await fetch(serverUrl, { method: 'POST', body: '{}' });
    const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(refused);
    if (!resourceMetadataUrl || scope === undefined) throw new Error('no challenge');
    const server = { serverUrl, resourceMetadataUrl, scope };
    expect(await auth(program, server)).toBe('REDIRECT');
    if (!program.authorization) throw new Error('no redirect');
    const callback = await allow(program.authorization, await world.person('acme'));
    const { code: authorizationCode = '', iss = '' } = Object.fromEntries(callback.searchParams);
    expect(await auth(program, { ...server, authorizationCode, iss })).toBe('AUTHORIZED');
    return server;
  };

  test('follows the challenge of the API to its tokens, and refreshes them', async () => {
    const program = new McpProgram();
    const server = await connectMcp(program);
    const first = program.tokens()?.access_token ?? '';
    expect(await world.call(first)).toBe(200);
    expect(await auth(program, server)).toBe('AUTHORIZED');
    const second = program.tokens()?.access_token ?? '';
    expect(second).not.toBe(first);
    expect(await world.call(second)).toBe(200);
  });

  test('the document at its address identifies a program, without registering', async () => {
    const client_id = 'https://program.example.org/client.json';
    const document = {
      client_id,
      client_name: 'Known program',
      redirect_uris: [CALLBACK],
      token_endpoint_auth_method: 'none',
    };
    const plain = globalThis.fetch;
    const stub = jest.spyOn(globalThis, 'fetch').mockImplementation(async (...args) => {
      return String(args[0]) === client_id ? Response.json(document) : plain(...args);
    });
    try {
      const program = new McpProgram(client_id);
      await connectMcp(program);
      expect(program.authorization?.searchParams.get('client_id')).toBe(client_id);
      expect(await world.call(program.tokens()?.access_token ?? '')).toBe(200);
    } finally {
      stub.mockRestore();
    }
  });

  test('refuses a program when its document lists a redirect that would show the tokens to others', async () => {
    const client_id = 'https://careless.example.org/client.json';
    const redirect_uris = ['http://careless.example.org/cb'];
    const document = { client_id, client_name: 'Careless', redirect_uris, token_endpoint_auth_method: 'none' };
    const plain = globalThis.fetch;
    const stub = jest.spyOn(globalThis, 'fetch').mockImplementation(async (...args) => {
      return String(args[0]) === client_id ? Response.json(document) : plain(...args);
    });
    try {
      const browser = world.browser();
      const query = new URLSearchParams({ client_id, response_type: 'code', redirect_uri: redirect_uris[0] ?? '' });
      await browser.open(`${world.front.url}/oauth/authorize?${query}`);
      expect([browser.status, browser.text.includes('client is not allowed')]).toEqual([400, true]);
    } finally {
      stub.mockRestore();
    }
  });
});
