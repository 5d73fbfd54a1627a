import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { testDatabase } from '@pipeline/testing';
import { hostOfKind } from '../../src/hosts/hosts.ts';
import { admit, type Bench, makeBench } from '../support/bench.ts';
import { makeWorld, type World } from '../support/sandbox-world.ts';
import { type Call, serveConnected } from '../support/served-app.ts';

const database = testDatabase();
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

const add = (body: object) => call('POST', '/api/repos', { body });
const slugs = async () => {
  const { items } = (await call('GET', '/api/repos')).json as { items: { repo: string }[] };
  return items.map(({ repo }) => repo);
};

test('adds a repo under the name and default branch that the host reports', async () => {
  const added = await add({ repo: 'acme/new', poolSize: 3, reason: 'pilot' });
  expect(added).toMatchObject({
    status: 200,
    json: {
      added: true,
      repo: { repo: 'acme/New', org: 'default', enabled: true, host: 'sandbox', branch: 'main', poolSize: 3 },
      checks: [{ check: 'push-protection', status: 'warning' }],
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
  [{ repo: 'acme/new', compare: { develop: { claude: 0, codex: 1 } } }, 400, 'compare.develop.claude: must be a whole'],
  [{ repo: 'acme/new', compare: { merge: { claude: 1, codex: 1 } } }, 400, 'types are analyze, plan, develop, review'],
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
  expect((await call('POST', `${path}/enable`)).json).toMatchObject({
    changed: true,
    repo: { enabled: true },
    checks: [{ check: 'push-protection' }],
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
  for (const step of ['disable', 'enable']) await call('POST', `/api/repos/acme/new/${step}`, { body: { reason } });
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
