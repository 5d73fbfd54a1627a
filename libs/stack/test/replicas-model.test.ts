import { createHash } from 'node:crypto';
import { beforeAll, expect, test } from '@jest/globals';
import { breaches, disagreements, forgotten, madeTwice, STEPS, type Step } from '@pipeline/engine/model';
import { checkIssueList, ensureTenant, insertWorkerToken } from '@pipeline/store';
import { testDatabase, until } from '@pipeline/testing';
import fc from 'fast-check';
import { perform } from './replicas/commands.ts';
import { Fleet } from './replicas/fleet.ts';
import { startHost } from './replicas/host.ts';
import { viewOf } from './replicas/host-view.ts';
import { REPO, Scene } from './replicas/scene.ts';
import { settle } from './replicas/settle.ts';

/** `REPLICA_RUNS=50` makes a soak of runs that are new each time. */
const { REPLICA_RUNS, REPLICA_SEED } = process.env;
const RUNS = Number(REPLICA_RUNS ?? 5);
const SEED = 20_261_121;
const TOKEN = `wrk_at_${'t'.repeat(43)}`;

const database = testDatabase();
let scene: Scene | undefined;

beforeAll(async () => {
  const host = await startHost();
  database.defer(() => host.stop());
  const tenantId = await ensureTenant(database.store.tenant, 'default');
  const tokenHash = createHash('sha256').update(TOKEN).digest('hex');
  await insertWorkerToken(database.store.tenant, { tenantId, name: 'rover', tokenHash, repoIds: null });
  const fleet = new Fleet(database.url, host);
  database.defer(() => fleet.stop());
  await fleet.start();
  await until('the repo is polled', async () => {
    const polled = await database.db.selectFrom('repo_sync').select('repo_id').execute();
    return polled.length > 0;
  });
  scene = new Scene({ database, host, fleet, token: TOKEN });
}, 120_000);

/** A run begins with two issues that are let in; what is left of earlier runs is done. */
async function begin(one: Scene): Promise<void> {
  const newest = await one.database.db
    .selectFrom('issues')
    .select('issue_number')
    .orderBy('issue_number', 'desc')
    .limit(1)
    .executeTakeFirst();
  one.base = newest?.issue_number ?? 0;
  one.kills = 0;
  one.held = [];
  one.workers = [await one.register('w1'), await one.register('w2')];
  for (const title of ['First', 'Second'])
    await one.host.api('POST', `${REPO}/issues`, { title, body: 'Do it.', labels: ['svc:enqueue'] });
  await until('both are let in', async () => (await one.issues()).length >= 2);
}

/** Rules hold at every moment, whatever the processes are at. */
async function checkRules(one: Scene, after: string): Promise<void> {
  expect({ after, broken: await breaches(one) }).toEqual({ after, broken: {} });
}

async function makeRun(one: Scene, steps: readonly Step[]): Promise<void> {
  await begin(one);
  for (const step of steps) {
    await perform(one, step);
    await checkRules(one, step.name);
  }
  await settle(one);
  await checkRules(one, 'the end');
  expect((await forgotten.execute(one.database.db)).rows).toEqual([]);
  const seen = { database: one.database, host: await viewOf(one) };
  expect(await disagreements(seen)).toEqual([]);
  expect(await madeTwice(seen)).toEqual([]);
  const tenantId = await ensureTenant(one.database.store.tenant, 'default');
  const lists = await checkIssueList(one.database.db, tenantId);
  expect(lists).toEqual({ missing: 0, surplus: 0, stale: 0, miscounted: 0 });
}

/** Printed in short where a run fails. */
const readable = STEPS.map((step) => ({ ...step, toString: () => `${step.name}(${JSON.stringify(step.data)})` }));

test('whatever the model does to two monitors and two hosted APIs on one database, kill -9 among it, its rules hold', async () => {
  const property = fc.asyncProperty(
    fc.array(readable, { minLength: 10, maxLength: 25, size: 'max' }),
    async (steps) => {
      if (!scene) throw new Error('nothing was started');
      await makeRun(scene, steps);
    },
  );
  const seed = REPLICA_SEED ?? (REPLICA_RUNS === undefined ? SEED : undefined);
  // No smaller failure is looked for: what failed is still in the database.
  await fc.assert(property, { numRuns: RUNS, endOnFailure: true, ...(seed !== undefined && { seed: Number(seed) }) });
}, 900_000);
