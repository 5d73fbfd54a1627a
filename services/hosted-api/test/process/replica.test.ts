import { expect, test } from '@jest/globals';
import { createMetrics } from '@pipeline/runtime';
import { answerOf, testHosted } from '../support/hosted.ts';

const hosting = testHosted();

test('reports the replica for reads in /ready and the metrics when there is one, whatever its state', async () => {
  const metrics = createMetrics();
  const store = hosting.open({ readUrl: hosting.database.url });
  const { url, fetch, context } = await hosting.start({ store, metrics });
  const ready = async () => answerOf(await fetch(`${url}/ready`));
  const exported = async (name: string) =>
    new RegExp(`^${name} (\\S+)$`, 'm').exec(await metrics.registry.metrics())?.[1];
  await context.replicaWatch?.check();
  expect((await ready()).body.replica).toEqual({ used: true, lagSeconds: 0 });
  expect(await exported('svc_replica_used')).toBe('1');
  expect(await exported('svc_store_server')).toBe('1');

  if (store.replica) store.replica.state.isUsable = false;
  const answer = await ready();
  expect([answer.status, answer.body.status, answer.body.replica.used]).toEqual([200, 'ready', false]);
  expect(await exported('svc_replica_used')).toBe('0');
});
