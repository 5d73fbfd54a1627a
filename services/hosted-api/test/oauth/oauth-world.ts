import { createHash, randomBytes } from 'node:crypto';
import { afterAll, beforeAll } from '@jest/globals';
import { hashPassword } from '@pipeline/engine';
import { ensureTenant, insertUser } from '@pipeline/store';
import { Browser } from '../accounts/browser.ts';
import { type Front, startFront } from '../support/front.ts';
import { type Hosting, OAUTH, testHosted } from '../support/hosted.ts';

export const PASSWORD = 'correct horse battery staple';
export const CALLBACK = 'http://127.0.0.1:49152/callback';

type Options = NonNullable<Parameters<typeof testHosted>[0]>;

export interface OauthWorld {
  readonly hosting: Hosting;
  readonly front: Front;
  /** Resource that tokens are for. */
  readonly resource: string;
  /** A person with a password, and the organisations that they belong to. */
  person(...organisations: string[]): Promise<Person>;
  browser(): Browser;
  /** Every answer is held to the contract. */
  fetch: typeof fetch;
  /** Registers a program that redirects to CALLBACK. @returns its id. */
  program(metadata?: Record<string, unknown>): Promise<string>;
  /** Asks the token endpoint. */
  token(parameters: Record<string, string>): Promise<TokenAnswer>;
  /** The status of a request to the API with a token. */
  call(token: string): Promise<number>;
}

export interface Person {
  id: number;
  email: string;
  tenantIds: number[];
}

export interface TokenAnswer {
  status: number;
  access: string;
  refresh: string;
  error: string | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: read by tests.
  body: any;
}

/**
 * Two replicas over one store behind a balancer that alternates, for the tests of a file.
 * @param prepare returns options that need the public address.
 */
export function testOauth(options: Options = {}, prepare?: (front: Front) => Promise<Options>): OauthWorld {
  let front: Front | undefined;
  const hosting = testHosted(options);
  const there = () => {
    if (!front) throw new Error('the world is there from beforeAll on');
    return front;
  };
  beforeAll(async () => {
    front = await startFront();
    const more = { oauth: OAUTH, ...options, ...(await prepare?.(front)), publicUrl: front.url };
    const replicas = [await hosting.start(more), await hosting.start(more)];
    front.to(replicas.map(({ url }) => url));
  });
  afterAll(() => front?.close());
  const post = (path: string, type: string, body: string) =>
    hosting.api.fetch(`${there().url}${path}`, { method: 'POST', headers: { 'content-type': type }, body });
  return {
    hosting,
    get front() {
      return there();
    },
    get resource() {
      return `${there().url}/api`;
    },
    fetch: (...args) => hosting.api.fetch(...args),
    browser: () => new Browser(there().url, (...args) => hosting.api.fetch(...args)),
    async person(...organisations) {
      const { db } = hosting.database.owner;
      const email = `${randomBytes(6).toString('hex')}@example.org`;
      const passwordHash = await hashPassword(PASSWORD);
      const tenantIds = await Promise.all(organisations.map((name) => ensureTenant(db, name)));
      let id = 0;
      for (const tenantId of tenantIds)
        id = await insertUser(db, { email, name: 'Ann', passwordHash, tenantId, role: 'member' });
      if (id === 0) throw new Error('name an organisation');
      return { id, email, tenantIds };
    },
    async program(metadata = {}) {
      const body = JSON.stringify({ client_name: 'Reader', redirect_uris: [CALLBACK], ...metadata });
      const answer = await post('/oauth/register', 'application/json', body);
      const registered = (await answer.json()) as { client_id: string };
      if (answer.status !== 201) throw new Error(`not registered: ${JSON.stringify(registered)}`);
      return registered.client_id;
    },
    async token(parameters) {
      const answer = await post(
        '/oauth/token',
        'application/x-www-form-urlencoded',
        `${new URLSearchParams(parameters)}`,
      );
      const body = (await answer.json()) as { access_token?: string; refresh_token?: string; error?: string };
      const { access_token: access = '', refresh_token: refresh = '', error } = body;
      return { status: answer.status, access, refresh, error, body };
    },
    async call(token) {
      const headers = { authorization: `Bearer ${token}` };
      const answer = await hosting.api.fetch(`${there().url}/api/nothing`, { headers });
      // Who is known learns that nothing is there.
      return answer.status === 404 ? 200 : answer.status;
    },
  };
}

export const VERIFIER = 'v'.repeat(64);

/** The address of an authorization request. */
export function authorizeUrl(
  world: OauthWorld,
  clientId: string,
  more: Record<string, string | undefined> = {},
): string {
  const parameters: Record<string, string | undefined> = {
    client_id: clientId,
    response_type: 'code',
    redirect_uri: CALLBACK,
    state: 'abc',
    code_challenge: createHash('sha256').update(VERIFIER).digest('base64url'),
    code_challenge_method: 'S256',
    resource: world.resource,
    ...more,
  };
  const given = Object.entries(parameters).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return `${world.front.url}/oauth/authorize?${new URLSearchParams(given)}`;
}

/** Logs in where a page asks for it. @returns where that led to elsewhere, or null. */
export const logIn = (browser: Browser, { email }: Person, password = PASSWORD) =>
  browser.submit('/account/login', { email, password });

/** Answers the consent that the browser shows. @returns the callback's address. */
export async function decide(browser: Browser, decision: 'allow' | 'deny', organisation?: string): Promise<URL> {
  const action = `${new URL(browser.url).pathname.replace('/confirm', '')}/confirm`;
  const fields = { decision, ...(organisation !== undefined && { organisation }) };
  const callback = await browser.submit(action, fields);
  if (!callback) throw new Error(`no redirect: ${browser.status} ${browser.text}`);
  return callback;
}

export interface Connected extends TokenAnswer {
  clientId: string;
  person: Person;
}

/** The whole way: a person connects a program, which gets its tokens. */
export async function connect(
  world: OauthWorld,
  { clientId = '', person = undefined as Person | undefined } = {},
): Promise<Connected> {
  const who = person ?? (await world.person('acme'));
  const client = clientId || (await world.program());
  const code = await codeFor(world, client, who);
  const answer = await redeem(world, client, code);
  if (answer.status !== 200) throw new Error(`no tokens: ${JSON.stringify(answer.body)}`);
  return { ...answer, clientId: client, person: who };
}

export async function codeFor(world: OauthWorld, clientId: string, person: Person): Promise<string> {
  const browser = world.browser();
  await browser.open(authorizeUrl(world, clientId));
  await logIn(browser, person);
  const callback = await decide(browser, 'allow');
  return callback.searchParams.get('code') ?? '';
}

export const redeem = (world: OauthWorld, clientId: string, code: string, more: Record<string, string> = {}) =>
  world.token({
    grant_type: 'authorization_code',
    client_id: clientId,
    code,
    redirect_uri: CALLBACK,
    code_verifier: VERIFIER,
    ...more,
  });

export const refresh = (world: OauthWorld, clientId: string, token: string, more: Record<string, string> = {}) =>
  world.token({ grant_type: 'refresh_token', client_id: clientId, refresh_token: token, ...more });
