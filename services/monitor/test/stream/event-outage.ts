import { afterAll, afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { checkedFetch, monitorSurface } from '@pipeline/contract';
import { silentLogger } from '@pipeline/runtime';
import {
  enabledReposWithTenant,
  insertRecords,
  inTransaction,
  noRecords,
  StoreWatch,
  sequenceStream,
} from '@pipeline/store';
import { startCutProxy, until } from '@pipeline/testing';
import { PolledValue } from '../../src/polling/polled-value.ts';
import { EventFeed } from '../../src/stream/event-feed.ts';
import { type Bench, engineOn, makeBench } from '../support/bench.ts';
import { serveApp } from '../support/served-app.ts';
import { database } from './database.ts';
import { RawStream } from './stream-client.ts';

describe('an outage of the store', () => {
  const { fetch: checked } = checkedFetch(monitorSurface);
  const cleanups: (() => unknown)[] = [];
  let bench: Bench;
  beforeEach(async () => {
    bench = await makeBench(database.store, 'acme/shop');
  });
  afterEach(async () => {
    for (const cleanUp of cleanups.splice(0).reverse()) await cleanUp();
  });

  const publish = (...statuses: string[]) =>
    inTransaction(database.store.db, (tx) =>
      insertRecords(tx, bench.tenantId, {
        ...noRecords(),
        stream: statuses.map((status) => ({
          type: 'issue-status' as const,
          data: { issueNumber: 7, repo: 'acme/shop', status, actorType: 'agent', state: 'planning' },
        })),
      }),
    );

  /** A replica whose way to the store can be cut, and one beside it that is ahead. */
  async function replica() {
    const way = await startCutProxy(database.url);
    cleanups.push(() => way.close());
    const store = database.open({ databaseUrl: way.url, onConnectionError: () => undefined });
    cleanups.push(() => store.close());
    const storeWatch = new StoreWatch({ store, log: silentLogger });
    await storeWatch.check();
    let now = new Date('2026-03-01T12:00:00Z');
    const feed = new EventFeed({ store, uptime: () => 7, now: () => now });
    const repos = new PolledValue(
      () => enabledReposWithTenant(store.db),
      () => now,
    );
    await repos.refresh();
    await feed.tick();
    const served = await serveApp({ pipeline: { engine: engineOn(store), storeWatch, feed, repos } });
    cleanups.push(async () => {
      feed.close();
      await served.close();
      await storeWatch.loop.stop();
    });
    const beat = async () => {
      now = new Date(now.getTime() + 30_000);
      await feed.beat(storeWatch.isConnected);
    };
    return { way, storeWatch, feed, beat, url: `${served.url}/api/events` };
  }

  /** Numbers what was published, as another replica does. */
  async function ahead() {
    const numbered = await sequenceStream(database.store.db);
    return numbered.at(-1)?.id ?? 0;
  }

  async function raw(url: string, headers: Record<string, string> = {}) {
    const stream = await RawStream.open(url, headers);
    cleanups.push(() => stream.close());
    return stream;
  }

  test.each([
    { found: 'by no request yet', isKnown: false },
    { found: 'by the watch', isKnown: true },
  ])('streams are opened from memory when the loss of the store was found $found', async ({ isKnown }) => {
    const { way, storeWatch, feed, beat, url } = await replica();
    await publish('one', 'two');
    const last = await ahead();
    await feed.tick();
    const old = await raw(url);
    way.cut();
    if (isKnown) await storeWatch.check();
    const fresh = await raw(url);
    const back = await raw(`${url}?repo=ACME/shop`, { 'last-event-id': `${last - 1}` });
    const named = await raw(`${url}?repo=acme/shop&tenant=default`, { 'last-event-id': `${last + 5}` });
    await until('what was missed is replayed', () => back.ids.length === 1);
    expect(back.text).toContain('"two"');
    await storeWatch.check();
    await beat();
    const all = [old, fresh, back];
    await until('all hear a heartbeat', () => [...all, named].every(({ text }) => text.includes('event: heartbeat')));
    expect(all.map(({ ids }) => ids.at(-1))).toEqual([last, last, last]);
    // Its place does not move back.
    expect(named.ids).toEqual([last + 5]);
    for (const [query, code] of [
      ['repo=acme/unknown', 'NOT_FOUND'],
      ['repo=acme/shop&tenant=other', 'NOT_FOUND'],
      ['repo=acme', 'INVALID_INPUT'],
    ]) {
      const answer = await checked(`${url}?${query}`);
      expect(((await answer.json()) as { code: string }).code).toBe(code);
    }
  });

  test('a client that was ahead when the store went away misses nothing and gets nothing twice', async () => {
    const { way, feed, storeWatch, url } = await replica();
    await publish('seen elsewhere');
    const seen = await ahead();
    way.cut();
    const stream = await raw(url, { 'last-event-id': `${seen}` });
    way.restore();
    await storeWatch.check();
    await publish('new');
    const last = await ahead();
    await until('the store is read again', async () => (await feed.tick().catch(() => 'again')) !== 'again');
    await until('the new one is there', () => stream.ids.length > 0);
    expect(stream.ids).toEqual([last]);
    expect(stream.text).not.toContain(': gap');
  });

  test('a client with an id that was never given out learns so when the store is back, and gets what came since it connected', async () => {
    const { way, feed, storeWatch, url } = await replica();
    await publish('before');
    await ahead();
    await feed.tick();
    way.cut();
    const stream = await raw(url, { 'last-event-id': '999999999' });
    way.restore();
    await storeWatch.check();
    await publish('meanwhile');
    const meanwhile = await ahead();
    await until('the store is read again', async () => (await feed.tick().catch(() => 'again')) !== 'again');
    await until('it is there', () => stream.ids.length > 0);
    expect(stream.text).toContain(`: gap\n\nid: ${meanwhile}\n`);
    await publish('new');
    const next = await ahead();
    await feed.tick();
    await until('it follows', () => stream.ids.at(-1) === next);
    expect(stream.ids).toEqual([meanwhile, next]);
  });

  afterAll(() => database.clear());
});
