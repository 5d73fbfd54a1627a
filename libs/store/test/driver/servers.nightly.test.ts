import { beforeAll, describe, expect, test } from '@jest/globals';
import { createMetrics, silentLogger } from '@pipeline/runtime';
import { type StreamingPair, startStreamingPair, until } from '@pipeline/testing';
import { sql } from 'kysely';
import {
  createNotifications,
  isDatabaseUrl,
  isUnavailable,
  openStore,
  registerServerGauge,
  Servers,
  type Store,
} from '../../src/index.ts';

describe('Servers', () => {
  test.each(['postgres://h/d', 'postgresql://u:p@h:5432/d?sslmode=require', 'postgres://u:p@a:1,b:2,[::1]:3/d'])(
    'accepts %s',
    (url) => expect(isDatabaseUrl(url)).toBe(true),
  );

  test.each(['', 'h', 'http://h/d', 'postgres://a:x/d', 'postgres://a:1,/d', 'postgres://a:1,b:99999/d'])(
    'refuses %j',
    (url) => expect(isDatabaseUrl(url)).toBe(false),
  );

  test('continues with the next server once when several connections to the same one fail', () => {
    const servers = new Servers('postgres://u:p@a:1,b,[::1]:3/d?sslmode=require');
    expect(servers.url).toBe('postgres://u:p@a:1/d?sslmode=require');
    const first = servers.current;
    servers.failed(first);
    servers.failed(first);
    expect(servers.current).toEqual({ host: 'b', port: 5432 });
    servers.failed(servers.current);
    expect(servers.current).toEqual({ host: '::1', port: 3 });
  });
});

describe('a primary and its streaming standby', () => {
  let pair: StreamingPair;
  beforeAll(async () => {
    pair = await startStreamingPair({ settings: { fsync: 'off' } });
  });

  const open = (databaseUrl: string): Store =>
    openStore({ databaseUrl, applicationName: 'test', poolSize: 2, onConnectionError: () => undefined });

  /** The port of the server that answers. */
  const portOf = async (db: Store['tenant']): Promise<number> => {
    const { rows } = await sql<{ port: number }>`select inet_server_port() as port`.execute(db);
    return rows[0]?.port ?? 0;
  };

  test('refuses a standby as the store, as long as it is one', async () => {
    const store = open(pair.standby.url);
    const error = await store.ping().catch((caught: unknown) => caught);
    expect(String(error)).toContain('is a standby');
    expect(isUnavailable(error)).toBe(true);
    await store.close();
  });

  test('reports a write that reaches a standby as an unavailable store', async () => {
    const store = openStore({
      databaseUrl: pair.url,
      readUrl: pair.standby.url,
      applicationName: 'test',
      poolSize: 2,
      onConnectionError: () => undefined,
    });
    expect(await portOf(store.read)).toBe(pair.standby.port);
    const error = await sql`create table written ()`.execute(store.read).catch((caught: unknown) => caught);
    expect(isUnavailable(error)).toBe(true);
    await store.close();
  });

  test('finds the primary behind the standby in the list, and the promoted one when the primary is killed', async () => {
    const [, start = '', first, second, rest = ''] = /^(.*@)([^,]*),([^/]*)(.*)$/.exec(pair.url) ?? [];
    const store = open(`${start}${second},${first}${rest}`);
    const { registry } = createMetrics();
    registerServerGauge(registry, store);
    const exported = async () => /^svc_store_server (\S+)$/m.exec(await registry.metrics())?.[1];
    expect([store.server, await exported()]).toEqual([null, 'Nan']);
    const notifications = createNotifications({
      directUrl: pair.url,
      applicationName: 'test:direct',
      log: silentLogger,
    });
    let heard = 0;
    notifications.on('svc_tasks', () => {
      heard += 1;
    });
    notifications.start();
    await until('the session listens', () => heard === 1);
    expect(await portOf(store.tenant)).toBe(pair.primary.port);
    expect(store.server).toEqual({ host: '127.0.0.1', port: pair.primary.port, position: 2 });
    expect(await exported()).toBe('2');

    pair.killPrimary();
    await pair.promote();
    // The first statement may meet the broken connection.
    const port = await portOf(store.tenant).catch(() => portOf(store.tenant));
    expect(port).toBe(pair.standby.port);
    expect(await exported()).toBe('1');
    await until('the session listens again', () => heard === 2);
    await sql`create table written ()`.execute(store.tenant);
    await notifications.close();
    await store.close();
    await pair.close();
  });
});
