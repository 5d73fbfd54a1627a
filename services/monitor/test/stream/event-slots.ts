import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { findReposBySlug } from '@pipeline/store';
import { until } from '@pipeline/testing';
import { RawConnection } from '@pipeline/testing/raw-connection';
import fc from 'fast-check';
import { EventFeed } from '../../src/stream/event-feed.ts';
import { makeBench } from '../support/bench.ts';
import { serveApp } from '../support/served-app.ts';
import { database } from './database.ts';

describe('slots of the stream', () => {
  const SLOTS = 20;
  let feed: EventFeed;
  let served: Awaited<ReturnType<typeof serveApp>>;

  beforeAll(async () => {
    const bench = await makeBench(database.store, 'acme/shop');
    feed = new EventFeed({ store: database.store, uptime: () => 1, now: () => new Date() });
    await feed.tick();
    served = await serveApp({
      pipeline: { engine: bench.engine, storeWatch: { isConnected: true } as never, feed },
      streamLimits: { perCredential: SLOTS, inAll: SLOTS },
    });
  });
  afterAll(async () => {
    feed.close();
    await served.close();
  });

  const STREAM = 'GET /api/events?repo=acme/shop';

  /** Opens all slots; one more is refused. Then gives them back. */
  async function openAll(): Promise<void> {
    const opened: RawConnection[] = [];
    for (let n = 0; n < SLOTS; n += 1) {
      const raw = await RawConnection.open(served.url);
      opened.push(raw);
      raw.send(STREAM);
      expect((await raw.answer()).status).toBe(200);
    }
    const more = await RawConnection.open(served.url);
    more.send(STREAM);
    expect((await more.answer()).status).toBe(429);
    for (const raw of [...opened, more]) raw.close();
    await until('all are closed', () => feed.clients === 0);
  }

  async function stay(turns: number, requests: number, dies: boolean): Promise<void> {
    const raw = await RawConnection.open(served.url);
    for (let n = 0; n < requests; n += 1) raw.send(STREAM);
    for (let n = 0; n < turns; n += 1) await new Promise(setImmediate);
    if (dies) raw.abort();
    else raw.close();
  }

  describe('slots of event streams', () => {
    test('all slots are free after 1,000 requests were aborted at random moments', async () => {
      // How many turns of the event loop a client stays, how many requests it pipelines, how it goes.
      const client = fc.tuple(fc.nat(30), fc.integer({ min: 1, max: 3 }), fc.boolean());
      const clients = fc.sample(client, 1_000);
      for (let at = 0; at < clients.length; at += SLOTS / 2) {
        await Promise.all(
          clients.slice(at, at + SLOTS / 2).map(([turns, requests, dies]) => stay(turns, requests, dies)),
        );
      }
      // Requests that reached the server just before their end have still to be answered.
      await until('nobody is connected', async () => feed.clients === 0 && (await repoIsRead()));
      await openAll();
    });

    test('a HEAD takes no slot, and is answered at once with the head of the stream', async () => {
      for (let n = 0; n <= SLOTS; n += 1) {
        const raw = await RawConnection.open(served.url);
        raw.send('HEAD /api/events', { connection: 'close' });
        const { status, headers } = await raw.answer();
        expect([status, headers.get('content-type')]).toEqual([200, 'text/event-stream']);
        await until('it is over', () => raw.isClosed);
        expect(raw.text.split('\r\n\r\n')[1]).toBe('');
        raw.close();
      }
      await openAll();
    });
  });

  /** Behind all the reads of repos that streams have begun. */
  const repoIsRead = async () =>
    (await findReposBySlug(database.store.db, { owner: 'acme', name: 'shop' })).length === 1;

  afterAll(() => database.clear());
});
