import { afterAll, afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { insertRecords, inTransaction, noRecords, type Store, sequenceStream } from '@pipeline/store';
import { EventFeed } from '../../src/stream/event-feed.ts';
import { StreamLoop } from '../../src/stream/live-stream.ts';
import { type Bench, makeBench } from '../support/bench.ts';
import { database } from './database.ts';

describe('the loop of the stream', () => {
  let bench: Bench;
  let store: Store;
  let feed: EventFeed;
  let loop: StreamLoop;
  let at: number;
  let reads: number;

  beforeEach(async () => {
    [at, reads] = [0, 0];
    bench = await makeBench(database.store, 'acme/shop');
    const onStatement = (text: string) => {
      if (text.startsWith('/*prepared:stream-after*/')) reads += 1;
    };
    store = database.open({ onStatement });
    feed = new EventFeed({ store, uptime: () => 7, now: () => new Date('2026-03-01T12:00:00Z') });
    loop = new StreamLoop({ engine: { ...bench.engine, store }, feed, clock: () => at });
    await loop.tick();
    reads = 0;
  });
  afterEach(() => store.close());

  async function publish(): Promise<void> {
    const data = { issueNumber: 7, repo: 'acme/shop', status: 'news', actorType: 'agent', state: 'planning' };
    const stream = [{ type: 'issue-status' as const, data }];
    await inTransaction(database.store.db, (tx) => insertRecords(tx, bench.tenantId, { ...noRecords(), stream }));
  }

  /** Ticks, and returns how many events were handed out and how many reads that took. */
  async function tick(): Promise<{ events: number; reads: number }> {
    const before = { position: feed.position ?? 0, reads };
    await loop.tick();
    return { events: (feed.position ?? 0) - before.position, reads: reads - before.reads };
  }

  test('the stream hands out what it has numbered itself without reading it', async () => {
    await publish();
    expect(await tick()).toEqual({ events: 1, reads: 0 });
    expect(await tick()).toEqual({ events: 0, reads: 0 });
  });

  test('the stream reads what another process has numbered, once notified of it', async () => {
    await publish();
    await sequenceStream(database.store.db);
    expect(await tick()).toEqual({ events: 0, reads: 0 });
    loop.wakes(() => undefined)([0], false);
    expect(await tick()).toEqual({ events: 1, reads: 1 });
  });

  test('the stream hands out what another has numbered before what it has numbered itself', async () => {
    await publish();
    await sequenceStream(database.store.db);
    await publish();
    expect(await tick()).toEqual({ events: 2, reads: 1 });
  });

  test('the stream is read once a second, so that a lost notification delays no event for longer', async () => {
    await publish();
    await sequenceStream(database.store.db);
    at = 999;
    expect(await tick()).toEqual({ events: 0, reads: 0 });
    at = 1_000;
    expect(await tick()).toEqual({ events: 1, reads: 1 });
  });

  afterAll(() => database.clear());
});
