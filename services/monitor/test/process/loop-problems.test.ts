import { afterEach, expect, test } from '@jest/globals';
import { DEFAULT_SETTINGS } from '@pipeline/domain';
import { runDetectors } from '@pipeline/engine';
import { createMetrics } from '@pipeline/runtime';
import { testDatabase } from '@pipeline/testing';
import { readinessOf } from '../../src/process/pipeline.ts';
import { engineOn } from '../support/bench.ts';
import { pipelineOf } from '../support/pipeline-of.ts';
import { serveApp } from '../support/served-app.ts';

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanups.splice(0).reverse()) await cleanUp();
});
const database = testDatabase();

/** A monitor whose clock and loops the test drives, with one loop that the test controls. */
async function monitorWith(tick: () => Promise<unknown>, everyMs = 1_000) {
  let time = Date.parse('2026-03-01T00:00:00Z');
  const now = () => new Date(time);
  database.clock.now = now();
  const metrics = createMetrics();
  const options = { now, metrics, instance: 'host:1', clock: () => database.clock.now };
  const pipeline = await pipelineOf(database.url, options);
  pipeline.loops.add('example', everyMs, tick);
  cleanups.push(() => pipeline.stop());
  const { call, close } = await serveApp({ pipeline, readiness: () => readinessOf(pipeline) });
  cleanups.push(close);
  await pipeline.storeWatch.check();
  const engine = engineOn(database.store);
  return {
    pipeline,
    run: (loop: string) => pipeline.loops.tick(loop).catch(() => undefined),
    ready: async () => {
      const { status, json } = await call('GET', '/ready');
      return { status, loops: (json as { loops: unknown }).loops };
    },
    pass: (ms: number) => {
      time += ms;
      database.clock.now = now();
    },
    metric: async (problem: string) =>
      (await metrics.registry.metrics()).match(
        new RegExp(`^svc_loop_problem\\{loop="example",problem="${problem}"\\} (.)$`, 'm'),
      )?.[1],
    alerts: async (settings = DEFAULT_SETTINGS) => {
      await pipeline.loops.tick('loop-watch');
      const readings = { driftByRepo: null, limitedMinutes: new Map() };
      expect(await runDetectors({ ...engine, settings: () => settings }, readings, { refresh: false })).toEqual([]);
      const rows = database.db.selectFrom('alerts').select(['fingerprint', 'message', 'severity', 'resolved_at']);
      return (await rows.where('detector', '=', 'loop_failing').execute()).map(({ resolved_at, ...alert }) => ({
        ...alert,
        resolved: resolved_at !== null,
      }));
    },
  };
}

test('names a loop that fails three runs in a row in /ready, the metrics and an alert, until it works again', async () => {
  let works = false;
  const { run, ready, metric, alerts, pass } = await monitorWith(async () => {
    if (!works) throw new Error('bigint out of range');
  });
  await run('stream');
  await run('example');
  await run('example');
  expect(await ready()).toEqual({ status: 200, loops: [] });
  expect([await metric('failing'), await metric('late')]).toEqual(['0', '0']);
  expect(await alerts()).toEqual([]);
  await run('example');
  expect(await ready()).toEqual({ status: 503, loops: [{ name: 'example', problem: 'failing' }] });
  expect([await metric('failing'), await metric('late')]).toEqual(['1', '0']);
  const alert = {
    fingerprint: 'loop_failing:example@monitor host:1',
    message: 'background loop example of monitor host:1 failed 3 times in a row: Error: bigint out of range',
    severity: 'critical',
  };
  expect(await alerts()).toEqual([{ ...alert, resolved: false }]);

  works = true;
  pass(15_000);
  await run('example');
  expect(await ready()).toEqual({ status: 200, loops: [] });
  expect(await metric('failing')).toBe('0');
  expect(await alerts()).toEqual([{ ...alert, resolved: true }]);
});

test('names a loop that finishes no run as late, and the alert of a process that ended is resolved', async () => {
  let release = () => {};
  const hanging = new Promise<void>((resolve) => {
    release = resolve;
  });
  const { pipeline, run, ready, metric, alerts, pass } = await monitorWith(() => hanging);
  pipeline.start();
  while (pipeline.health().stream !== 'ok') await database.store.ping();
  pass(62_000);
  await run('stream');
  const about = async () => (await ready()).loops;
  expect(await about()).not.toContainEqual({ name: 'example', problem: 'late' });
  pass(2_000);
  expect(await ready()).toMatchObject({ status: 503 });
  expect(await about()).toContainEqual({ name: 'example', problem: 'late' });
  expect(await metric('late')).toBe('1');
  const fingerprint = 'loop_failing:example@monitor host:1';
  expect(await alerts()).toContainEqual(expect.objectContaining({ fingerprint, resolved: false }));
  release();
  await database.db.updateTable('loop_problems').set({ seen_at: '2026-01-01T00:00:00Z' }).execute();
  await pipeline.stop();
  const engine = engineOn(database.store);
  await runDetectors(engine, { driftByRepo: null, limitedMinutes: new Map() }, { refresh: false });
  const open = database.db.selectFrom('alerts').select('fingerprint').where('resolved_at', 'is', null);
  expect(await open.execute()).not.toContainEqual({ fingerprint });
});

test('is not ready before the event stream runs', async () => {
  const { run, ready } = await monitorWith(async () => undefined);
  expect(await ready()).toEqual({ status: 503, loops: [] });
  await run('stream');
  expect(await ready()).toEqual({ status: 200, loops: [] });
});
