import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  APP_EVENTS,
  APP_PERMISSIONS,
  type HostCheck,
  permissionsFor,
  TASK_TYPES,
  type VcsHost,
} from '@pipeline/domain';
import { APP_KEY, createSandboxEnvironment, openIssue, REPO, type SandboxEnvironment } from '@pipeline/testing/sandbox';
import { appRegistrationForm, createGitHubAppHost } from '../src/github/index.ts';
import { hostUrls, parseWebhook } from '../src/index.ts';

const NAMES = Object.keys(APP_PERMISSIONS) as (keyof typeof APP_PERMISSIONS)[];

/** The permissions of the services, one of them one level lower. */
function reduced(name: keyof typeof APP_PERMISSIONS) {
  const { [name]: level, ...rest } = APP_PERMISSIONS;
  return level === 'write' ? { ...rest, [name]: 'read' as const } : rest;
}

let environment: SandboxEnvironment;
let issue: number;
let prNumber: number;
let head: string;
let failed: HostCheck;
beforeAll(async () => {
  const { publicKey } = APP_KEY;
  environment = await createSandboxEnvironment({
    apps: [
      { id: 100, slug: 'whole', publicKey, owners: ['acme'], permissions: APP_PERMISSIONS },
      ...NAMES.map((name, at) => ({
        id: 101 + at,
        slug: `without-${name.replaceAll('_', '-')}`,
        publicKey,
        owners: ['acme'],
        permissions: reduced(name),
      })),
    ],
  });
  const ci = [{ name: 'tests', outcome: 'failure', log: 'expected 1, got 2\n' } as const];
  await environment.sandbox.addRepo({ slug: 'acme/shop', collaborators: { 'pipeline-bot': 'write' }, ci });
  issue = await openIssue(environment);
  head = await environment.push('work', 'work.txt', 'x\n');
  prNumber = await createPull(environment.host, 'work');
  for (;;) {
    const check = (await environment.host.checksOf(REPO, head)).find(({ state }) => state === 'failure');
    if (!check) continue;
    failed = check;
    break;
  }
});
afterAll(() => environment.end());

async function createPull(host: VcsHost, branch: string): Promise<number> {
  const pull = { type: 'createPR', head: branch, base: 'main', title: 't', body: 'b', draft: false, marker: branch };
  const result = await host.execute(REPO, 1, pull as never, { mayHaveHappened: false });
  if (result.status !== 'ok') throw new Error(JSON.stringify(result));
  return (result as unknown as { created: { number: number } }).created.number;
}

const appHost = (appId: number): VcsHost =>
  createGitHubAppHost({
    baseUrl: environment.sandbox.url,
    appId: String(appId),
    privateKey: APP_KEY.privateKey,
    clientType: 'sandbox',
    userAgent: 'test',
    now: () => new Date(),
  });

/** A pull request that has the title already is not written. */
let titles = 1;

/** One request of the services per permission. @returns whether the host allowed it. */
const REQUESTS: Record<Exclude<keyof typeof APP_PERMISSIONS, 'metadata'>, (host: VcsHost) => Promise<boolean>> = {
  actions: async (host) => (await host.logTailOf(REPO, failed)) === 'expected 1, got 2',
  checks: (host) => host.rerunCheck(REPO, failed).then(() => true),
  contents: (host) => executes(host, { type: 'deleteBranch', branch: 'no-such-branch' }),
  issues: (host) => executes(host, { type: 'addLabels', labels: ['svc:planning'] }),
  pull_requests: (host) => executes(host, { type: 'updatePR', prNumber, title: `Title ${titles++}` }),
  statuses: (host) =>
    executes(host, {
      type: 'setCommitStatus',
      sha: head,
      context: 'svc/review',
      state: 'success',
      description: 'd',
      targetUrl: null,
    }),
};

async function executes(host: VcsHost, action: object): Promise<boolean> {
  return (await host.execute(REPO, issue, action as never, { mayHaveHappened: false })).status === 'ok';
}

describe('the permissions of the app', () => {
  test.each(Object.entries(REQUESTS))(
    'include %s, without which a request of the services fails',
    async (name, ask) => {
      const lacking = appHost(101 + NAMES.indexOf(name as keyof typeof APP_PERMISSIONS));
      expect(await ask(appHost(100))).toBe(true);
      expect(await ask(lacking).catch(() => false)).toBe(false);
    },
  );

  test('and the events are those of the documents', () => {
    const page = readFileSync(new URL('../../../docs/operations.md', import.meta.url), 'utf8');
    const listed = [...page.matchAll(/^\| `(\w+)` \| (read|write) \|/gm)].map(([, name, level]) => [name, level]);
    expect(Object.fromEntries(listed)).toEqual(APP_PERMISSIONS);
    const [, events = ''] = /^Events: ([^.]*)\./m.exec(page) ?? [];
    expect(events.split(', ')).toEqual(APP_EVENTS.map((event) => `\`${event}\``));
  });

  test('cover the tokens of every task', () => {
    const rank = { read: 1, write: 2 };
    const held: Record<string, 'read' | 'write'> = APP_PERMISSIONS;
    for (const type of TASK_TYPES) {
      for (const [name, level] of Object.entries(permissionsFor(type))) {
        expect(rank[held[name] ?? 'read']).toBeGreaterThanOrEqual(rank[level]);
      }
    }
  });
});

test('subscribes to exactly the events that are handled and that the host does not send unrequested', () => {
  const load = createRequire(import.meta.url);
  const all = load('@octokit/webhooks-examples');
  const events: { name: string; examples: object[] }[] = Array.isArray(all) ? all : all.default;
  const handled = events.filter(({ name, examples }) =>
    examples.some((each) => parseWebhook(name, each) !== 'ignored'),
  );
  const names = handled.map(({ name }) => name).filter((name) => !/^installation/.test(name));
  expect([...names].sort()).toEqual([...APP_EVENTS]);
});

test.each([
  ['https://github.com', 'https://github.com', 'https://api.github.com'],
  ['https://acme.ghe.com/', 'https://acme.ghe.com', 'https://api.acme.ghe.com'],
  ['https://github.example.org:8443', 'https://github.example.org:8443', 'https://github.example.org:8443/api/v3'],
])('finds the API of %s', (host, web, api) => {
  expect(hostUrls(host)).toEqual({ web, api });
});

describe('the form of a registration', () => {
  const base = { name: 'p', org: null, webhookUrl: null, redirectUrl: 'http://127.0.0.1:1/callback', state: 'a b' };

  test('requests no events when there is no webhook', () => {
    const { action, manifest } = appRegistrationForm('https://github.com', base);
    expect(action).toBe('https://github.com/settings/apps/new?state=a%20b');
    expect(Object.keys(JSON.parse(manifest)).sort()).toEqual([
      ...['default_permissions', 'name', 'public', 'redirect_url', 'url'],
    ]);
  });

  test('names organisation and webhook when they are given', () => {
    const webhookUrl = 'https://pipeline.example.org/webhooks/github';
    const { action, manifest } = appRegistrationForm('https://github.com', { ...base, org: 'acme', webhookUrl });
    expect(action).toBe('https://github.com/organizations/acme/settings/apps/new?state=a%20b');
    expect(JSON.parse(manifest)).toMatchObject({
      url: 'https://pipeline.example.org',
      public: false,
      hook_attributes: { url: webhookUrl, active: true },
      default_events: APP_EVENTS,
      default_permissions: APP_PERMISSIONS,
    });
  });
});
