import { createHash, randomBytes } from 'node:crypto';
import { afterAll, beforeAll } from '@jest/globals';
import { checkedFetch, hostedSurface } from '@pipeline/contract';
import type { HostIssue, TaskType, VcsHost } from '@pipeline/domain';
import { applyHostEvent, type Engine, putRepo } from '@pipeline/engine';
import { listen } from '@pipeline/http';
import { createMetrics, silentLogger } from '@pipeline/runtime';
import {
  ensureTenant,
  insertWorkerToken,
  Notifications,
  type RepoRow,
  type Store,
  type StoreOptions,
} from '@pipeline/store';
import { type TestDatabase, testDatabase } from '@pipeline/testing';
import { supertestFetch } from '@pipeline/testing/supertest-fetch';
import { createHostedApp, createHostedContext, type HostedContext, type HostedOptions } from '../../src/index.ts';
import type { OauthOptions } from '../../src/oauth/oauth.ts';

/** Public URL that the API under test is configured with. */
export const PUBLIC_URL = 'https://pipeline.example.org';

/** Without limits, for all requests of a test come from one address. */
export const OAUTH: OauthOptions = {
  keys: ['a key of the tests, long enough to be one'],
  lifetimes: { accessSeconds: 600, refreshSeconds: 2_592_000, connectionSeconds: 31_536_000 },
  limits: { logins: 0, registrations: 0, tokens: 0 },
};

export const WORK: TaskType[] = ['analyze', 'plan', 'develop', 'review', 'merge'];

export interface Answer {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: bodies were held to the contract already.
  body: any;
}

export interface Hosted {
  url: string;
  context: HostedContext;
  /** The engine with the rights of the owner of the database: for set-up. */
  owner: Engine;
  /** Every answer is held to the contract. */
  post(path: string, body: unknown, more?: { token?: string; signal?: AbortSignal }): Promise<Answer>;
  fetch: typeof fetch;
  close(): Promise<void>;
}

const checked = checkedFetch(hostedSurface, supertestFetch);

export const NO_LIMITS = { connection: 0, org: 0, mcp: 0, address: 0, worker: 0 };

type Options = Partial<HostedOptions> & {
  /** Database URL for notifications, if not the store's own database. */
  listenUrl?: string;
};

export interface Hosting {
  readonly database: TestDatabase;
  /** One for all tests of the file. */
  readonly api: Hosted;
  /** Another one beside it, closed with it if not before. */
  start(options?: Options): Promise<Hosted>;
  /** Another store on the same database, closed with the others. */
  open(options?: Partial<StoreOptions>): Store;
}

/** The hosted API for the tests of a file, on a database of its own. Call it once at the top. */
export function testHosted(options: Options = {}): Hosting {
  let api: Hosted | undefined;
  const started: { close(): Promise<void> }[] = [];
  // Hooks run in the order in which they were added: what stands on the database goes before it.
  afterAll(async () => {
    for (const part of started.reverse()) await part.close();
  });
  const database = testDatabase('hosted_api');
  const start = async (more: Options = {}) => {
    const hosted = await startHosted(database, more);
    started.push(hosted);
    return hosted;
  };
  beforeAll(async () => {
    api = await start(options);
  });
  return {
    database,
    start,
    open(more) {
      const store = database.open(more);
      started.push(store);
      return store;
    },
    get api() {
      if (!api) throw new Error('the API is there from beforeAll on: use it inside tests and hooks');
      return api;
    },
  };
}

/** The hosted API on a port, with its own notifications; its loops do not run by themselves. */
async function startHosted(database: TestDatabase, options: Options): Promise<Hosted> {
  const { listenUrl = database.url, store = database.store, ...rest } = options;
  const notifications = new Notifications({ directUrl: listenUrl, applicationName: 'hosted', log: silentLogger });
  const context = createHostedContext({
    store,
    loopStore: store,
    notifications,
    log: silentLogger,
    metrics: createMetrics(),
    now: () => new Date(),
    random: () => 0.5,
    publicUrl: PUBLIC_URL,
    monitorUrl: undefined,
    storeDetails: undefined,
    oauth: OAUTH,
    trustedProxies: 0,
    webhookSecret: undefined,
    issuerOf: () => null,
    limits: NO_LIMITS,
    ...rest,
  });
  const owner = { ...context.engine, store: database.owner };
  await context.storeWatch.check();
  const listening = new Promise<void>((ready) => {
    notifications.on('svc_tasks', (tenantIds) => {
      context.waiters.wake(tenantIds);
      ready();
    });
  });
  notifications.on('svc_stream', (tenantIds) => context.changes.changed(tenantIds));
  notifications.start();
  await listening;
  const served = await listen(createHostedApp(context, 'throw'), { host: '127.0.0.1', port: 0 });
  let closing: Promise<void> | undefined;
  return {
    url: served.url,
    context,
    owner,
    fetch: checked.fetch,
    async post(path, body, { token, signal } = {}) {
      const headers = { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) };
      const text = typeof body === 'string' ? body : JSON.stringify(body);
      const init = { method: 'POST', headers, body: text, ...(signal && { signal }) };
      return answerOf(await checked.fetch(`${served.url}${path}`, init));
    },
    close() {
      closing ??= stop();
      return closing;
    },
  };
  async function stop() {
    await context.waiters.close();
    context.changes.close();
    await served.close();
    await context.waiters.settled();
    await Promise.all(context.loops.map((loop) => loop.stop()));
    await notifications.close();
  }
}

export async function answerOf(response: Response): Promise<Answer> {
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === '' ? undefined : JSON.parse(text) };
}

export interface Tenant {
  id: number;
  token: string;
  repo: RepoRow;
}

/** A tenant of its own with one repo and a token for all of it. */
export async function makeTenant(
  { owner: engine }: Hosted,
  slug = `acme-${randomBytes(4).toString('hex')}/shop`,
): Promise<Tenant> {
  const [login = ''] = slug.split('/');
  const id = await ensureTenant(engine.store.db, `${login}-${randomBytes(4).toString('hex')}`);
  const repo = await addRepo({ owner: engine }, id, slug);
  return { id, repo, token: await makeToken(engine.store, id, null) };
}

export function addRepo({ owner: engine }: Pick<Hosted, 'owner'>, tenantId: number, slug: string): Promise<RepoRow> {
  const [owner = '', name = ''] = slug.split('/');
  return putRepo(engine, tenantId, {
    slug: { owner, name },
    vcsHost: 'sandbox',
    cloneUrl: `http://127.0.0.1/${slug}.git`,
    defaultBranch: 'main',
    setupCommand: null,
    poolSize: null,
    installationId: null,
    enabled: true,
  });
}

export async function makeToken(
  store: Store,
  tenantId: number,
  repoIds: number[] | null,
  { expiresAt = null, taskTypes = null }: { expiresAt?: string | null; taskTypes?: TaskType[] | null } = {},
): Promise<string> {
  const token = `wrk_at_${randomBytes(32).toString('base64url')}`;
  const tokenHash = createHash('sha256').update(token).digest('hex');
  await insertWorkerToken(store.db, { tenantId, name: 'test', tokenHash, repoIds, taskTypes, expiresAt });
  return token;
}

/** A host on which every account may write: the issues come with all their data. */
const host = {
  clientType: 'sandbox',
  login: async () => 'pipeline-bot',
  isPerson: async () => false,
  permissionOf: async () => 'write',
  hasCreatedBranch: async () => false,
} as Partial<VcsHost> as VcsHost;

/** An issue is labelled on the host: it enters, and its first task, to analyze it, is enqueued. */
export async function labelIssue(
  { owner: engine }: Hosted,
  repo: RepoRow,
  number: number,
  over: Partial<HostIssue> = {},
): Promise<void> {
  const issue: HostIssue = {
    number,
    title: `Issue ${number}`,
    body: 'Please.',
    url: `http://127.0.0.1/${repo.owner}/${repo.name}/issues/${number}`,
    state: 'open',
    stateReason: null,
    labels: ['svc:enqueue'],
    author: 'ann',
    createdAt: '2026-01-01T00:00:00.000Z',
    updatedAt: '2026-01-01T00:00:00.000Z',
    closedAt: null,
    ...over,
  };
  const event = { kind: 'issue', action: 'labeled', repo, issue, sender: 'ann', label: 'svc:enqueue' } as const;
  await applyHostEvent({ engine, repo, host }, event);
}

export async function register(hosted: Hosted, token: string, name = 'w1'): Promise<string> {
  const { body } = await hosted.post('/api/worker/register', { name, taskTypes: WORK }, { token });
  return body.workerId;
}
