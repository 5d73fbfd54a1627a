import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { ProjectionAction } from '@pipeline/domain';
import { admin, Leader, readBlockedIssues, readLive, readTaskQueue } from '@pipeline/engine';
import { silentLogger } from '@pipeline/runtime';
import { type SandboxHost, startSandbox } from '@pipeline/sandbox-host';
import { openDeadLetters } from '@pipeline/store';
import { testDatabase } from '@pipeline/testing';
import { sql } from 'kysely';
import { connectHosts, hostFinder, hostOfKind } from '../../src/hosts/hosts.ts';
import { WriteBudget } from '../../src/hosts/write-budget.ts';
import { checkProtections } from '../../src/loops/upkeep.ts';
import { PolledValue } from '../../src/polling/polled-value.ts';
import { addDeadLetter, admit, type Bench, makeBench } from '../support/bench.ts';
import { BOT, connectedDoorbell, makeWorld, type World } from '../support/sandbox-world.ts';
import { type Call, serveConnected } from '../support/served-app.ts';

const database = testDatabase();

describe('routes of repositories', () => {
  let world: World;
  let bench: Bench;
  let call: Call;
  let close: () => Promise<void>;

  beforeAll(async () => {
    world = await makeWorld(['acme/shop', 'acme/New']);
    bench = await makeBench(database.store, 'acme/shop');
    ({ call, close } = await serveConnected({ engine: bench.engine, hostOfKind: hostOfKind([world.host]) }));
  });
  afterAll(async () => {
    await close();
    await world.stop();
  });

  const add = (body: object) => call('POST', '/api/repos', { body: { withoutReviewGate: true, ...body } });
  const slugs = async () => {
    const { items } = (await call('GET', '/api/repos')).json as { items: { repo: string }[] };
    return items.map(({ repo }) => repo);
  };

  test('adds no repo whose branch does not require the review, unless it stays disabled or that is accepted', async () => {
    const refused = await add({ repo: 'acme/new', withoutReviewGate: false });
    expect(refused).toMatchObject({
      status: 400,
      json: { error: expect.stringContaining('acme/New is not enabled: the branch does not require svc/review') },
    });
    expect(await slugs()).toEqual(['acme/shop']);
  });

  test('adds a repo under the name and default branch that the host reports', async () => {
    const added = await add({ repo: 'acme/new', poolSize: 3, reason: 'pilot' });
    expect(added).toMatchObject({
      status: 200,
      json: {
        added: true,
        repo: { repo: 'acme/New', org: 'default', enabled: true, host: 'sandbox', branch: 'main', poolSize: 3 },
        checks: [
          { check: 'push-protection', status: 'warning' },
          { check: 'review-gate', status: 'error' },
        ],
      },
    });
    expect(bench.bells).toContain('svc_cache');
    expect(await slugs()).toEqual(['acme/New', 'acme/shop']);
  });

  test('keeps the settings that are not given when the repo was added before', async () => {
    const again = await add({ repo: 'acme/new', setupCommand: 'make deps', enabled: false });
    expect(again.json).toMatchObject({
      added: false,
      repo: { poolSize: 3, setupCommand: 'make deps', enabled: true },
    });
    expect((await add({ repo: 'acme/new', poolSize: null })).json).toMatchObject({
      repo: { poolSize: null, setupCommand: 'make deps', compare: null },
    });
    const compare = { develop: { claude: 50, codex: 50 } };
    expect((await add({ repo: 'acme/new', compare })).json).toMatchObject({ repo: { compare } });
    expect((await add({ repo: 'acme/new', poolSize: null })).json).toMatchObject({ repo: { compare } });
    expect((await add({ repo: 'acme/new', compare: null })).json).toMatchObject({ repo: { compare: null } });
  });

  test.each([
    [{ repo: 'acme/none' }, 400, 'sandbox has no repository acme/none, or these credentials cannot see it'],
    [{ repo: 'nonsense' }, 400, 'must be owner/repo'],
    [{ repo: 'acme/new', tenant: 'nobody' }, 404, 'nobody'],
    [{ repo: 'acme/new', poolSize: 0 }, 400, 'poolSize'],
    [
      { repo: 'acme/new', compare: { develop: { claude: 0, codex: 1 } } },
      400,
      'compare.develop.claude: must be a whole',
    ],
    [
      { repo: 'acme/new', compare: { merge: { claude: 1, codex: 1 } } },
      400,
      'types are analyze, plan, develop, review',
    ],
    [{ repo: 'acme/new', host: 'github' }, 400, 'set GITHUB_TOKEN, or name the branch'],
  ])('refuses %j with %d and the reason', async (body, status, message) => {
    const answer = await add(body);
    expect(answer.status).toBe(status);
    expect((answer.json as { error: string }).error).toContain(message);
  });

  test('returns 503 when the host does not respond', async () => {
    for (let n = 0; n < 4; n += 1) world.sandbox.failNext({ match: { path: '/repos/acme/shop' }, status: 502 });
    expect(await add({ repo: 'acme/shop' })).toMatchObject({ status: 503, json: { code: 'HOST_UNAVAILABLE' } });
  });

  test('disables, enables and removes a repo, and adds a removed one again', async () => {
    const path = '/api/repos/acme/new';
    expect((await call('POST', `${path}/disable`)).json).toMatchObject({ changed: true, repo: { enabled: false } });
    expect((await call('POST', `${path}/disable`)).json).toMatchObject({ changed: false });
    expect(await call('POST', `${path}/enable`)).toMatchObject({
      status: 400,
      json: { code: 'INVALID_INPUT', error: expect.stringContaining('the branch does not require svc/review') },
    });
    const accepted = { body: { withoutReviewGate: true } };
    expect((await call('POST', `${path}/enable`, accepted)).json).toMatchObject({
      changed: true,
      repo: { enabled: true },
      checks: [{ check: 'push-protection' }, { check: 'review-gate' }],
    });
    expect((await call('DELETE', path)).json).toEqual({ ok: true, removed: true });
    expect(await slugs()).toEqual(['acme/shop']);
    expect((await call('DELETE', path)).status).toBe(404);
    expect((await call('POST', `${path}/enable`)).status).toBe(404);
    expect((await add({ repo: 'acme/new' })).json).toMatchObject({ added: true, repo: { enabled: true } });
  });

  test('records every change of a repo with the operator and the reason', async () => {
    const reason = 'quarterly clean-up';
    await add({ repo: 'acme/new', reason });
    const path = '/api/repos/acme/new';
    await call('POST', `${path}/disable`, { body: { reason } });
    await call('POST', `${path}/enable`, { body: { reason, withoutReviewGate: true } });
    await call('DELETE', '/api/repos/acme/new', { body: { reason } });
    const events = await database.db
      .selectFrom('pipeline_events')
      .select(['agent', 'payload'])
      .where('event_type', '=', 'operator_action')
      .orderBy('id', 'desc')
      .limit(4)
      .execute();
    const actions = events.map(({ agent, payload }) => ({ agent, ...(payload as { action: string; reason: string }) }));
    expect(actions.map(({ agent, action, reason }) => [agent, action, reason])).toEqual(
      ['repo-remove', 'repo-enable', 'repo-disable', 'repo-add'].map((action) => ['olga', action, reason]),
    );
  });

  test('refuses to remove a repo while issues are in progress, and leaves it enabled', async () => {
    await admit(bench, 7);
    const refused = await call('DELETE', '/api/repos/acme/shop');
    expect(refused).toMatchObject({ status: 400, json: { code: 'INVALID_INPUT' } });
    expect((refused.json as { error: string }).error).toMatch(/^1 issue is in progress in acme\/shop: disable/);
    expect(await slugs()).toContain('acme/shop');
    const { items } = (await call('GET', '/api/repos')).json as { items: { repo: string; enabled: boolean }[] };
    expect(items.find(({ repo }) => repo === 'acme/shop')).toMatchObject({ enabled: true });
  });

  afterAll(() => database.clear());
});

describe('disabled repositories', () => {
  const now = () => new Date('2026-05-06T07:08:09.000Z');

  let bench: Bench;
  let call: Call;
  let close: () => Promise<void>;
  const blocked = new PolledValue(() => readBlockedIssues(database.store), now);
  const taskQueue = new PolledValue(() => readTaskQueue(database.store), now);

  beforeAll(async () => {
    bench = await makeBench(database.store, 'Acme/Shop');
    await admit(bench, 1);
    await admit(bench, 2);
    await sql`update issues set state = 'failure-blocked', is_blocked = true where issue_number = 1`.execute(
      database.db,
    );
    await addDeadLetter(bench, 2);
    ({ call, close } = await serveConnected({ engine: bench.engine, blocked, taskQueue }));
  });
  afterAll(() => close());

  const get = async (path: string) => (await call('GET', path)).json as never as Record<string, unknown>;
  const setEnabled = (enabled: boolean) => sql`update repos set enabled = ${enabled}`.execute(database.db);

  /** Lists and figures of the issues of the repo. */
  async function shown() {
    await blocked.refresh();
    await taskQueue.refresh();
    const { issues, total } = await get('/api/blocked-issues');
    const { tasks, summary } = await get('/api/task-queue');
    const depth = await get('/api/queue/depth');
    const { work, inFlight, writes, deadLetters } = await readLive(bench.engine);
    return {
      blocked: [(issues as unknown[]).length, total],
      tasks: [(tasks as unknown[]).length, (summary as { totalPending: number }).totalPending],
      depth: [depth.pendingTaskCount, depth.dlqDepth, Number(depth.vcsWriteQueueDepth) > 0],
      deadLetters: (await openDeadLetters(database.store.db, { limit: 10, offset: 0 })).length,
      live: [work.length > 0, inFlight.length, writes.length > 0, deadLetters.length > 0],
    };
  }

  test('lists and figures leave the issues of a repo out while it is disabled', async () => {
    const enabled = await shown();
    expect(enabled).toEqual({
      blocked: [1, 1],
      tasks: [2, 2],
      depth: [2, 1, true],
      deadLetters: 1,
      live: [true, 0, true, true],
    });
    await setEnabled(false);
    expect(await shown()).toEqual({
      blocked: [0, 0],
      tasks: [0, 0],
      depth: [0, 0, false],
      deadLetters: 0,
      live: [false, 0, false, false],
    });
    await setEnabled(true);
    expect(await shown()).toEqual(enabled);
  });

  afterAll(() => database.clear());
});

describe('push protection', () => {
  const SLUG = 'acme/shop';
  let bench: Bench;
  let world: World;
  let tick: () => Promise<unknown>;
  let warnings: { msg: string; repo?: unknown; status?: unknown }[] = [];

  beforeAll(async () => {
    world = await makeWorld([SLUG]);
    bench = await makeBench(database.store, SLUG);
    const bell = await connectedDoorbell(database.url);
    database.defer(() => bell.close());
    const lead = new Leader(bell);
    tick = () => lead.run(bench.engine, (leading) => checkProtections(leading, hostFinder([world.host]), log));
  });
  afterAll(() => world.stop());
  beforeEach(() => {
    warnings = [];
  });

  const log = {
    ...silentLogger,
    warn: (msg: string, fields: object = {}) => void warnings.push({ msg, ...fields }),
  };
  const listed = async () => {
    const repos = await admin.listRepos({ engine: bench.engine, actor: 'olga', reason: null }, null);
    return repos.map(({ pushRestricted }) => pushRestricted);
  };
  const protect = (requiredApprovals: number) =>
    world.sandbox.addRepo({ slug: SLUG, collaborators: { [BOT.login]: 'write' }, requiredApprovals });
  const at = (time: string) => {
    database.clock.now = new Date(time);
  };

  test('warns of an enabled repo whose default branch anyone may push to, once a day', async () => {
    at('2030-01-01T00:00:00Z');
    expect(await listed()).toEqual([null]);
    await tick();
    const warning = {
      msg: expect.stringContaining('a develop token may push to any branch'),
      repo: SLUG,
      branch: 'main',
      check: 'push-protection',
      status: 'warning',
    };
    expect(warnings).toEqual([warning]);
    expect(await listed()).toEqual([false]);
    at('2030-01-01T23:59:00Z');
    await tick();
    expect(warnings).toEqual([warning]);
    at('2030-01-02T00:00:01Z');
    await tick();
    expect(warnings).toEqual([warning, warning]);
  });

  test('checks at once when a repo is enabled again, and is silent when the branch is protected', async () => {
    await protect(1);
    const olga = { engine: bench.engine, actor: 'olga', reason: null };
    for (const enabled of [false, true]) await admin.enableRepo(olga, SLUG, { org: null, enabled, gateOf: null });
    await tick();
    expect(warnings).toEqual([]);
    expect(await listed()).toEqual([true]);
  });

  test('keeps what is known and tries again an hour later when the host fails', async () => {
    at('2030-02-01T00:00:00Z');
    for (let n = 0; n < 3; n += 1) world.sandbox.failNext({ match: { path: '/rules/' }, status: 500 });
    await tick();
    expect(warnings).toMatchObject([{ msg: 'push restrictions could not be read from the host', repo: SLUG }]);
    expect(await listed()).toEqual([true]);
    await tick();
    expect(warnings).toHaveLength(1);
    await protect(0);
    at('2030-02-01T01:00:01Z');
    await tick();
    expect(await listed()).toEqual([false]);
  });

  afterAll(() => database.clear());
});

describe('the GitHub App', () => {
  const KEY = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  const REPO = { owner: 'acme', name: 'shop' };
  const now = () => new Date();
  const dataDir = mkdtempSync(join(tmpdir(), 'monitor-app-'));
  let sandbox: SandboxHost;
  beforeAll(async () => {
    sandbox = await startSandbox({
      dataDir,
      repos: [{ slug: 'acme/shop', private: true }],
      apps: [{ id: 5, slug: 'pipeline', publicKey: KEY.publicKey, owners: ['acme'] }],
    });
  });
  afterAll(async () => {
    await sandbox.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });

  test('acts as the app and spends no budget on its tokens when an app is configured', async () => {
    const budget = new WriteBudget(() => ({ perMinute: 80, perHour: 500 }), now);
    const access = { apiUrl: sandbox.url, appId: '5', privateKey: KEY.privateKey };
    const [host] = connectHosts({ access: { github: access }, budget, userAgent: 'test', log: silentLogger, now });
    expect(await host?.vcs.login()).toBe('pipeline[bot]');
    const created: ProjectionAction = {
      type: 'createIssue',
      title: 'Found',
      body: 'By the pipeline',
      labels: [],
      marker: 'm',
    };
    expect(await host?.vcs.getRepo(REPO)).toMatchObject({ private: true });
    expect(budget.left()).toBe(80);
    expect(await host?.vcs.execute(REPO, 0, created, { mayHaveHappened: false })).toMatchObject({ status: 'ok' });
    expect(budget.left()).toBe(79);
  });

  afterAll(() => database.clear());
});
