import { expect, test } from '@jest/globals';
import { DEFAULT_SETTINGS } from '@pipeline/domain';
import { createMetrics, silentLogger } from '@pipeline/runtime';
import { writeSettings } from '@pipeline/store';
import { testDatabase } from '@pipeline/testing';
import { SettingsFollower } from '../../src/settings/settings-follower.ts';

const database = testDatabase('hosted_api');

test('the settings that the monitor writes are followed; an invalid row is logged and changes nothing', async () => {
  const errors: string[] = [];
  const outcomes: string[][] = [];
  const log = { ...silentLogger, error: (msg: string) => void errors.push(msg) };
  const follower = new SettingsFollower({
    store: database.store,
    log,
    metrics: createMetrics().loops,
    now: () => new Date(),
    record: async ({ trigger, appliedKeys }) => void outcomes.push([trigger, ...appliedKeys]),
  });
  await follower.loop.tick();
  expect(follower.current).toEqual(DEFAULT_SETTINGS);
  await writeSettings(database.owner.db, { leaseMs: 5_000, ofALaterRelease: true });
  await follower.loop.tick();
  expect(follower.current).toEqual({ ...DEFAULT_SETTINGS, leaseMs: 5_000 });
  await writeSettings(database.owner.db, { leaseMs: -1 });
  await follower.loop.tick();
  await follower.loop.tick();
  expect(follower.current.leaseMs).toBe(5_000);
  expect(errors).toEqual(['settings are not valid; the current settings are unchanged']);
  await writeSettings(database.owner.db, { leaseMs: 7_000 });
  await follower.loop.tick();
  expect(follower.current.leaseMs).toBe(7_000);
  expect(outcomes).toEqual([['watch']]);
  await writeSettings(database.owner.db, { leaseMs: 7_000, costLimits: { dailyUsd: 5 } });
  await follower.loop.tick();
  expect(outcomes).toEqual([['watch'], ['watch', 'costLimits']]);
  await follower.loop.stop();
});
