import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { enqueueDueScans } from '@pipeline/engine';
import type { Notifications } from '@pipeline/store';
import { testDatabase } from '@pipeline/testing';
import { Lead } from '../../src/loops/lead.ts';
import { makeBench } from '../support/bench.ts';
import { connectedDoorbell } from '../support/sandbox-world.ts';

const database = testDatabase();
const bells: Notifications[] = [];

beforeEach(async () => {
  for (let replica = 0; replica < 2; replica += 1) bells.push(await connectedDoorbell(database.url));
});
afterEach(async () => {
  for (const bell of bells.splice(0)) await bell.close();
});

const scans = () => database.db.selectFrom('tasks').select(['repo_id', 'task_type', 'status']).execute();

test('of several monitors one enqueues the scans, and another when that one is gone', async () => {
  const first = await makeBench(database.store, 'acme/shop');
  const [one, two] = bells.map((bell) => {
    const lead = new Lead(bell, 'code-map-scans');
    return () => lead.run(first.engine, enqueueDueScans);
  });
  await one?.();
  expect(await scans()).toEqual([{ repo_id: first.repo.id, task_type: 'code-map-scan', status: 'pending' }]);
  const second = await makeBench(database.store, 'acme/other');
  await two?.();
  expect(await scans()).toHaveLength(1);
  await bells[0]?.close();
  for (let round = 0; (await scans()).length < 2 && round < 100; round += 1) await two?.();
  expect((await scans()).map((row) => row.repo_id)).toEqual([first.repo.id, second.repo.id]);
});
