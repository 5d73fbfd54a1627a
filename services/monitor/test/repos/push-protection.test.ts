import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { admin } from '@pipeline/engine';
import { silentLogger } from '@pipeline/runtime';
import { testDatabase } from '@pipeline/testing';
import { hostFinder } from '../../src/hosts/hosts.ts';
import { Lead } from '../../src/loops/lead.ts';
import { checkProtections } from '../../src/loops/upkeep.ts';
import { type Bench, makeBench } from '../support/bench.ts';
import { BOT, connectedDoorbell, makeWorld, type World } from '../support/sandbox-world.ts';

const database = testDatabase();
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
  const lead = new Lead(bell, 'push-protection');
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
  for (const enabled of [false, true]) await admin.enableRepo(olga, SLUG, { org: null, enabled });
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
