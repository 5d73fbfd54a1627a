/** The position of the stream in the response of the session: a page reads its data after it, once. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { insertRecords, inTransaction, noRecords } from '@pipeline/store';
import { until } from '@pipeline/testing';
import { EventFeed } from '../../src/stream/event-feed.ts';
import { StreamLoop } from '../../src/stream/live-stream.ts';
import { type Bench, makeBench } from '../support/bench.ts';
import { authOf, OLGA, serveApp } from '../support/served-app.ts';
import { database } from './database.ts';
import { RawStream } from './stream-client.ts';

describe('the position of the stream', () => {
  const authorization = `Basic ${Buffer.from(`${OLGA.username}:${OLGA.password}`).toString('base64')}`;
  let bench: Bench;
  let feed: EventFeed;
  let url: string;
  let close: () => Promise<void>;

  beforeAll(async () => {
    bench = await makeBench(database.store, 'acme/shop');
    feed = new EventFeed({ store: database.store, uptime: () => 7, now: () => new Date() });
    const pipeline = { engine: bench.engine, storeWatch: { isConnected: true } as never, feed };
    ({ url, close } = await serveApp({ auth: authOf([OLGA]), pipeline }));
  });
  afterAll(async () => {
    feed.close();
    await close();
  });

  const positionOf = async (headers: Record<string, string>): Promise<string | null> =>
    (await fetch(`${url}/api/auth/session`, { headers })).headers.get('x-stream-position');

  async function publish(status: string): Promise<void> {
    const data = { issueNumber: 7, repo: 'acme/shop', status, actorType: 'agent', state: 'planning' };
    const stream = [{ type: 'issue-status' as const, data }];
    await inTransaction(database.store.db, (tx) => insertRecords(tx, bench.tenantId, { ...noRecords(), stream }));
    await new StreamLoop({ engine: bench.engine, feed }).tick();
  }

  test('names no position while the stream does not run, and none to a caller without credentials', async () => {
    expect(await positionOf({ authorization })).toBeNull();
    await new StreamLoop({ engine: bench.engine, feed }).tick();
    expect(await positionOf({ authorization })).toMatch(/^\d+$/);
    expect(await positionOf({})).toBeNull();
  });

  test('replays what happened between the response and the stream, and reports no gap', async () => {
    await publish('before');
    const position = (await positionOf({ authorization })) ?? '';
    await publish('between');
    const stream = await RawStream.open(`${url}/api/events`, { authorization, 'last-event-id': position });
    await publish('after');
    await until('both events came', () => stream.text.includes('after'));
    expect([...stream.text.matchAll(/"status":"(\w+)"/g)].map(([, status]) => status)).toEqual(['between', 'after']);
    expect(stream.text).not.toContain(': gap');
    stream.close();
  });

  afterAll(() => database.clear());
});
