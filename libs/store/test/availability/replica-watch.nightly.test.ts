import { beforeAll, expect, test } from '@jest/globals';
import { silentLogger } from '@pipeline/runtime';
import { type StreamingPair, startCutProxy, startStreamingPair, until } from '@pipeline/testing';
import { sql } from 'kysely';
import { openStore, ReplicaWatch, type Store } from '../../src/index.ts';

let pair: StreamingPair;
beforeAll(async () => {
  // A paused standby must not hold commits: it only receives them.
  pair = await startStreamingPair({ settings: { fsync: 'off' } });
});

const open = (readUrl: string | undefined): Store =>
  openStore({
    databaseUrl: pair.primary.url,
    readUrl,
    applicationName: 'test',
    poolSize: 2,
    onConnectionError: () => undefined,
  });

const portOf = async (db: Store['read']): Promise<number | undefined> => {
  const { rows } = await sql<{ port: number }>`select inet_server_port() as port`.execute(db);
  return rows[0]?.port;
};

const write = (store: Store) =>
  sql`select txid_current(), pg_logical_emit_message(true, 'test', 'x')`.execute(store.tenant);

/** A watch on a clock that only `seconds` moves. */
function watchOf(store: Store) {
  const time = { seconds: 0 };
  const watch = new ReplicaWatch({
    store,
    maxLagSeconds: 10,
    log: silentLogger,
    clock: () => time.seconds * 1_000,
  });
  return { time, watch };
}

test('reads use the primary while the replica is behind the limit, and the replica when it has caught up', async () => {
  const store = open(pair.standby.url);
  const standby = open(pair.standby.url);
  const { time, watch } = watchOf(store);
  const replayed = async () => {
    await watch.check();
    return watch.lagSeconds === 0;
  };
  await until('the replica has caught up', replayed);
  expect(await portOf(store.read)).toBe(pair.standby.port);
  expect(await portOf(store.quick.read)).toBe(pair.standby.port);
  expect(await portOf(store.tenant)).toBe(pair.primary.port);

  await sql`select pg_wal_replay_pause()`.execute(standby.read);
  await write(store);
  await watch.check();
  time.seconds += 10;
  await watch.check();
  expect([watch.lagSeconds, watch.isUsable]).toEqual([10, true]);
  time.seconds += 1;
  await watch.check();
  expect([watch.lagSeconds, watch.isUsable]).toEqual([11, false]);
  expect(await portOf(store.read)).toBe(pair.primary.port);
  expect(await portOf(store.quick.read)).toBe(pair.primary.port);

  await sql`select pg_wal_replay_resume()`.execute(standby.read);
  await until('the replica has caught up', replayed);
  expect(await portOf(store.read)).toBe(pair.standby.port);
  await standby.close();
  await store.close();
}, 30_000);

test('an idle primary is no lag', async () => {
  const store = open(pair.standby.url);
  const { time, watch } = watchOf(store);
  await until('the replica has caught up', async () => {
    await watch.check();
    return watch.lagSeconds === 0;
  });
  time.seconds += 3_600;
  await watch.check();
  expect([watch.lagSeconds, watch.isUsable]).toEqual([0, true]);
  await store.close();
});

test('a read uses the primary when the replica refuses its connection, and the replica when it is back', async () => {
  const proxy = await startCutProxy(pair.standby.url);
  const store = open(proxy.url);
  const { watch } = watchOf(store);
  await until('the replica has caught up', async () => {
    await watch.check();
    return watch.lagSeconds === 0;
  });
  expect(await portOf(store.read)).toBe(pair.standby.port);
  proxy.cut();
  await proxy.gone();
  expect(await portOf(store.read)).toBe(pair.primary.port);
  await watch.check();
  expect([watch.lagSeconds, watch.isUsable]).toEqual([null, false]);
  proxy.restore();
  await until('the replica is used again', async () => {
    await watch.check();
    return watch.isUsable;
  });
  expect(await portOf(store.read)).toBe(pair.standby.port);
  await store.close();
  await proxy.close();
});

test('there is nothing to watch without a replica', async () => {
  const store = open(undefined);
  const { watch } = watchOf(store);
  await watch.check();
  expect([watch.lagSeconds, watch.isUsable, await portOf(store.read)]).toEqual([null, false, pair.primary.port]);
  await store.close();
});
