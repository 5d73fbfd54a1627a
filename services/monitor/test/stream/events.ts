import { execFile } from 'node:child_process';
import { connect } from 'node:net';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { putRepo } from '@pipeline/engine';
import { ensureTenant, insertRecords, inTransaction, noRecords, type StreamInput } from '@pipeline/store';
import { until } from '@pipeline/testing';
import type { MonitorApp } from '../../src/process/app.ts';
import { EventFeed } from '../../src/stream/event-feed.ts';
import { StreamLoop } from '../../src/stream/live-stream.ts';
import { type Bench, makeBench } from '../support/bench.ts';
import { serveApp } from '../support/served-app.ts';
import { database } from './database.ts';
import { RawStream, StreamClient } from './stream-client.ts';

describe('events', () => {
  const cleanups: (() => unknown)[] = [];
  afterEach(async () => {
    database.clock.now = null;
    for (const cleanUp of cleanups.splice(0).reverse()) await cleanUp();
  });

  let bench: Bench;
  let now: Date;
  beforeEach(async () => {
    await database.db.deleteFrom('stream_events').execute();
    await database.db.updateTable('stream_counter').set({ heartbeat_at: null }).execute();
    bench = await makeBench(database.store, 'acme/shop');
    now = new Date('2026-03-01T12:00:00Z');
  });

  interface Replica {
    url: string;
    feed: EventFeed;
    /** Runs one turn of its loop. */
    turn(): Promise<void>;
    close(): Promise<void>;
  }

  const storeWatch = { isConnected: true } as never;

  async function replica(over: Partial<Pick<MonitorApp, 'streamLimits'>> = {}): Promise<Replica> {
    const feed = new EventFeed({ store: database.store, uptime: () => 7, now: () => now });
    const served = await serveApp({ pipeline: { engine: bench.engine, storeWatch, feed }, ...over });
    const close = async () => {
      feed.close();
      await served.close();
    };
    cleanups.push(close);
    const loop = new StreamLoop({ engine: bench.engine, feed });
    const turn = async () => {
      // As after the notification of another replica.
      do loop.look();
      while ((await loop.tick()) === 'again');
    };
    await turn();
    return { url: `${served.url}/api/events`, feed, turn, close };
  }

  const statusOf = (status: string, more: Record<string, unknown> = {}): StreamInput => ({
    type: 'issue-status',
    data: { issueNumber: 7, repo: 'acme/Shop', status, actorType: 'agent', state: 'planning', ...more },
  });

  const publish = (...stream: StreamInput[]) =>
    inTransaction(database.store.db, (tx) => insertRecords(tx, bench.tenantId, { ...noRecords(), stream }));

  async function follow(url: string): Promise<StreamClient> {
    const client = new StreamClient(url);
    cleanups.push(() => client.close());
    await until('the stream is open', () => client.isOpen);
    return client;
  }

  async function raw(url: string, headers?: Record<string, string>): Promise<RawStream> {
    const stream = await RawStream.open(url, headers);
    cleanups.push(() => stream.close());
    return stream;
  }

  describe('GET /api/events', () => {
    test('hands on each committed event with the declared fields, in the order of the ids', async () => {
      const { url, turn } = await replica();
      const client = await follow(url);
      const at = { issueNumber: 7, repo: 'acme/Shop', agent: 'planner' };
      await publish(
        { type: 'state-transition', data: { ...at, from: 'planning', to: 'ready-for-dev' } },
        { type: 'cost-update', data: { ...at, costUsd: 1.25 } },
        {
          type: 'worker-status',
          data: { workerId: 'w', repo: null, status: 'idle', issueNumber: null, taskType: null },
        },
        { type: 'alert', data: { severity: 'warning', message: 'm', detector: 'queue_age', resolved: false } },
        statusOf('thinking'),
      );
      await turn();
      await until('all are there', () => client.seen.length === 5);
      expect(client.violations).toEqual([]);
      expect(client.seen.map(({ type }) => type)).toEqual([
        'state-transition',
        'cost-update',
        'worker-status',
        'alert',
        'issue-status',
      ]);
      expect(client.ids).toEqual([...client.ids].sort((a, b) => a - b));
      expect(client.seen.at(-1)?.data).toMatchObject({ repo: 'acme/Shop', status: 'thinking', issueNumber: 7 });
    });

    test('the stream is neither compressed nor stored nor buffered on its way', async () => {
      const { url } = await replica();
      const { stdout } = await promisify(execFile)('curl', [
        ...['-sN', '-D', '-', '-o', '/dev/null', '--max-time', '1', '-H', 'Accept-Encoding: gzip, br', url],
      ]).catch((error: { stdout: string }) => error);
      const head = stdout.toLowerCase();
      expect(head).toContain('content-type: text/event-stream');
      expect(head).toContain('cache-control: no-store, no-transform');
      expect(head).toContain('x-accel-buffering: no');
      expect(head).not.toContain('content-encoding');
      expect(head).not.toContain('transfer-encoding');
    });

    test('begins with the time to wait before connecting again', async () => {
      const { url } = await replica();
      const stream = await raw(url);
      await until('it begins', () => stream.text !== '');
      expect(stream.text).toBe('retry: 3000\n\n');
    });

    test('sends no past event without a Last-Event-ID', async () => {
      const { url, turn } = await replica();
      await publish(statusOf('before'));
      await turn();
      const client = await follow(url);
      await publish(statusOf('after'));
      await turn();
      await until('the new one is there', () => client.seen.length > 0);
      expect(client.seen.map(({ data }) => data.status)).toEqual(['after']);
    });
  });

  describe('a client that comes back', () => {
    const head = async () => {
      const { last_id } = await database.db.selectFrom('stream_counter').select('last_id').executeTakeFirstOrThrow();
      return last_id;
    };
    const tellMany = async (count: number) => {
      await publish(...Array.from({ length: count }, (_, n) => statusOf(`${n}`)));
    };

    test('gets exactly what it missed, from any replica, also from one that started later', async () => {
      const first = await replica();
      await tellMany(60);
      await first.turn();
      const later = await replica();
      const last = await head();
      for (const { url } of [first, later]) {
        const stream = await raw(url, { 'last-event-id': `${last - 40}` });
        await until('it was replayed', () => stream.ids.length >= 40);
        expect(stream.ids).toEqual(Array.from({ length: 40 }, (_, n) => last - 39 + n));
        expect(stream.text).not.toContain(': gap');
      }
    });

    test('a client that missed more than 100 events gets a notice of the gap and the newest 100', async () => {
      const { url, turn } = await replica();
      const before = await head();
      await tellMany(101);
      await turn();
      const late = await raw(url, { 'last-event-id': `${before}` });
      const just = await raw(url, { 'last-event-id': `${before + 1}` });
      await until('both were replayed', () => late.ids.length >= 100 && just.ids.length >= 100);
      expect(late.text.startsWith('retry: 3000\n\n: gap\n\nid: ')).toBe(true);
      expect(just.text).not.toContain(': gap');
      for (const { ids } of [late, just])
        expect([ids.length, ids[0], ids.at(-1)]).toEqual([100, before + 2, before + 101]);
    });

    test('a client that connects to a replica that lags behind does not get events again that another one sent', async () => {
      const ahead = await replica();
      const behind = await replica();
      await tellMany(3);
      await ahead.turn();
      const last = await head();
      const stream = await raw(behind.url, { 'last-event-id': `${last}` });
      await publish(statusOf('new'));
      await behind.turn();
      await until('the new one is there', () => stream.ids.length > 0);
      expect(stream.ids).toEqual([last + 1]);
    });

    test('gets what another replica numbered before what its own has numbered', async () => {
      const ahead = await replica();
      const behind = await replica();
      const stream = await raw(behind.url);
      const last = await head();
      await tellMany(2);
      await ahead.turn();
      await tellMany(1);
      await behind.turn();
      await until('all are there', () => stream.ids.length === 3);
      expect(stream.ids).toEqual([last + 1, last + 2, last + 3]);
    });

    test('a client with an id that was never given out gets a notice, no past event, and all later ones', async () => {
      const { url, turn } = await replica();
      await tellMany(2);
      await turn();
      const stream = await raw(url, { 'last-event-id': '999999999' });
      await until('it begins', () => stream.text !== '');
      await publish(statusOf('new'));
      await turn();
      await until('the new one is there', () => stream.ids.length > 0);
      expect(stream.text.startsWith('retry: 3000\n\n: gap\n\nid: ')).toBe(true);
      expect(stream.ids).toEqual([await head()]);
    });

    test('a client with an id that is no number starts with the newest events', async () => {
      const { url, turn } = await replica();
      await tellMany(2);
      await turn();
      const stream = await raw(url, { 'last-event-id': 'abc' });
      await publish(statusOf('new'));
      await turn();
      await until('the new one is there', () => stream.ids.length > 0);
      expect(stream.ids).toHaveLength(1);
    });
  });

  describe('filters', () => {
    test('filters by repo in any spelling and by type; heartbeats pass', async () => {
      const { url, feed, turn } = await replica();
      const shop = await follow(`${url}?repo=ACME/shop&types=issue-status`);
      await publish(statusOf('mine'), statusOf('other', { repo: 'acme/till' }));
      await publish({ type: 'alert', data: { severity: 'info', message: 'm', detector: 'd', resolved: true } });
      await turn();
      now = new Date(now.getTime() + 31_000);
      await feed.beat(true);
      await turn();
      await until('the heartbeat is there', () => shop.seen.length === 2);
      expect(shop.seen.map(({ type, data }) => data.status ?? type)).toEqual(['mine', 'heartbeat']);
    });

    test('hold for what is replayed as well', async () => {
      const { url, turn } = await replica();
      await publish(statusOf('other', { repo: 'acme/till' }), statusOf('mine'));
      await turn();
      const stream = await raw(`${url}?repo=acme/shop`, { 'last-event-id': '0' });
      await until('it was replayed', () => stream.ids.length > 0);
      expect(stream.text).toContain('"mine"');
      expect(stream.text).not.toContain('"other"');
    });

    test('a repo of the same name of another tenant is another repo, and must be distinguished', async () => {
      const other = await ensureTenant(database.store.db, 'other');
      const repo = { ...bench.repo, slug: bench.repo, vcsHost: 'sandbox' as const, enabled: true };
      await putRepo(bench.engine, other, {
        slug: repo.slug,
        vcsHost: 'sandbox',
        cloneUrl: 'http://127.0.0.1/x.git',
        defaultBranch: 'main',
        setupCommand: null,
        poolSize: null,
        installationId: null,
        enabled: true,
      });
      cleanups.push(() =>
        database.db.updateTable('repos').set({ enabled: false }).where('tenant_id', '=', other).execute(),
      );
      const { url, turn } = await replica();
      const ambiguous = await fetch(`${url}?repo=acme/shop`);
      expect([ambiguous.status, await ambiguous.json()]).toMatchObject([400, { code: 'INVALID_INPUT' }]);
      const theirs = await follow(`${url}?repo=acme/shop&tenant=other`);
      const ours = await follow(`${url}?repo=acme/shop&tenant=default`);
      await publish(statusOf('ours'));
      await turn();
      await until('it is there', () => ours.seen.length === 1);
      expect(theirs.seen).toEqual([]);
    });

    test.each([
      ['repo=acme', 400, 'repo: must be owner/name'],
      ['repo=acme/nothing', 404, 'Repo not found: acme/nothing'],
      ['types=alert,weather', 400, 'types: must be a comma-separated list of state-transition, '],
    ])('%s is refused with %i', async (query, code, message) => {
      const { url } = await replica();
      const answer = await fetch(`${url}?${query}`);
      expect(answer.status).toBe(code);
      expect(((await answer.json()) as { error: string }).error).toContain(message);
    });
  });

  describe('heartbeats', () => {
    test('come every 30 s through the store, so that replicas agree on their ids', async () => {
      const [one, two] = [await replica(), await replica()];
      const clients = [await follow(one.url), await follow(two.url)];
      expect(await one.feed.beat(true)).toBe(false);
      database.clock.now = now = new Date(now.getTime() + 30_000);
      expect(await one.feed.beat(true)).toBe(true);
      expect(await two.feed.beat(true)).toBe(false);
      await one.turn();
      await two.turn();
      await until('both have it', () => clients.every(({ seen }) => seen.length === 1));
      expect(clients[0]?.seen).toEqual(clients[1]?.seen);
      expect(clients[0]?.seen[0]).toMatchObject({ type: 'heartbeat', data: { uptime: 7 } });
      expect(clients.flatMap(({ violations }) => violations)).toEqual([]);
      expect(await one.feed.beat(true)).toBe(false);
    });

    test('go on while the store is away, with the newest id', async () => {
      const { url, feed, turn } = await replica();
      await publish(statusOf('last'));
      await turn();
      const client = await follow(url);
      now = new Date(now.getTime() + 30_000);
      expect(await feed.beat(false)).toBe(false);
      await until('it is there', () => client.seen.length === 1);
      const { last_id } = await database.db.selectFrom('stream_counter').select('last_id').executeTakeFirstOrThrow();
      expect(client.seen).toEqual([
        { id: last_id, type: 'heartbeat', data: { timestamp: now.toISOString(), uptime: 7 } },
      ]);
    });
  });

  describe('bounds', () => {
    test('a client that does not read is cut; the others miss nothing and it may resume', async () => {
      const { url, feed, turn } = await replica();
      const good = await follow(url);
      const { hostname, port } = new URL(url);
      const stalled = connect(Number(port), hostname);
      cleanups.push(() => stalled.destroy());
      stalled.on('error', () => undefined);
      stalled.write(`GET /api/events HTTP/1.1\r\nhost: ${hostname}\r\n\r\n`);
      stalled.pause();
      await until('both are connected', () => feed.clients === 2);
      const long = 'x'.repeat(50_000);
      let published = 0;
      while (feed.clients === 2 && published < 400) {
        await publish(...Array.from({ length: 10 }, () => statusOf(long)));
        await turn();
        published += 10;
        // Both read in this process: the one that reads must get its turn.
        await until('the other has it', () => good.seen.length === published);
      }
      expect(feed.clients).toBe(1);
    });

    test('a credential has so many streams and no more; a closed one makes room', async () => {
      const { url, feed } = await replica({ streamLimits: { perCredential: 2, inAll: 0 } });
      const first = await raw(url);
      await raw(url);
      const refused = await fetch(url);
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '30']);
      expect(await refused.json()).toMatchObject({ code: 'RATE_LIMITED' });
      first.close();
      await until('one has gone', () => feed.clients === 1);
      await raw(url);
    });

    test('so does the process', async () => {
      const { url } = await replica({ streamLimits: { perCredential: 0, inAll: 1 } });
      await raw(url);
      const refused = await fetch(url);
      expect([refused.status, await refused.json()]).toMatchObject([503, { code: 'SSE_UNAVAILABLE' }]);
    });
  });

  describe('without a stream to follow', () => {
    test('no store is configured: 503 SSE_UNAVAILABLE', async () => {
      const { url, close } = await serveApp();
      cleanups.push(close);
      const answer = await fetch(`${url}/api/events`);
      expect([answer.status, await answer.json()]).toMatchObject([503, { code: 'SSE_UNAVAILABLE' }]);
    });

    test('answers 503 SSE_UNAVAILABLE when the feed has not been read yet', async () => {
      const feed = new EventFeed({ store: database.store, uptime: () => 7, now: () => now });
      const { url, close } = await serveApp({ pipeline: { engine: bench.engine, storeWatch, feed } });
      cleanups.push(close);
      const answer = await fetch(`${url}/api/events`);
      expect([answer.status, await answer.json()]).toMatchObject([503, { code: 'SSE_UNAVAILABLE' }]);
    });

    test('the process ends: streams end with a last comment, and with what was waiting', async () => {
      const { url, feed, turn, close } = await replica();
      const stream = await raw(url);
      await until('it is open', () => feed.clients === 1);
      await publish(statusOf('last words'));
      await turn();
      await close();
      await until('it has ended', () => stream.ended);
      expect(stream.text).toContain('last words');
      expect(stream.text.endsWith(': closing\n\n')).toBe(true);
    });
  });

  afterAll(() => database.clear());
});
