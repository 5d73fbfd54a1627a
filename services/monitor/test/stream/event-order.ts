import { afterAll, afterEach, describe, expect, test } from '@jest/globals';
import { silentLogger, sleep } from '@pipeline/runtime';
import { insertRecords, Notifications, noRecords } from '@pipeline/store';
import { until } from '@pipeline/testing';
import { pipelineOf } from '../support/pipeline-of.ts';
import { serveApp } from '../support/served-app.ts';
import { database } from './database.ts';
import { RawStream } from './stream-client.ts';

/** Goes from replica to replica, each time with the id it saw last, like a client behind a balancer. */
class Traveller {
  readonly ids: number[] = [];
  gaps = 0;

  constructor(first: number) {
    this.ids.push(first);
  }

  /** @param at the address of the next replica. */
  async travel(at: () => string, last: () => number | null): Promise<void> {
    while (last() === null || (this.ids.at(-1) ?? 0) < (last() ?? 0)) {
      const stream = await RawStream.open(at(), { 'last-event-id': `${this.ids.at(-1)}` }).catch(() => null);
      const enough = 1 + Math.floor(Math.random() * 30);
      const end = performance.now() + 150;
      while (stream && !stream.ended && stream.ids.length < enough && performance.now() < end) await sleep(5);
      stream?.close();
      // A message that was cut off is not seen: its end is an empty line.
      const whole = stream ? stream.text.slice(0, stream.text.lastIndexOf('\n\n') + 2) : '';
      for (const [, id] of whole.matchAll(/^id: (\d+)\n/gm)) this.ids.push(Number(id));
      if (whole.includes(': gap')) this.gaps += 1;
    }
  }
}

describe('the order of events', () => {
  const cleanups: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const cleanUp of cleanups.splice(0).reverse()) await cleanUp();
  });

  interface Replica {
    url: string;
    stop(): Promise<void>;
  }

  /** A whole monitor with its own loops, notifications and connections. */
  async function startReplica(): Promise<Replica> {
    const pipeline = await pipelineOf(database.url, { poolSize: 3 });
    await pipeline.storeWatch.check();
    pipeline.start();
    const served = await serveApp({ pipeline });
    let stopped = false;
    const stop = async () => {
      if (stopped) return;
      stopped = true;
      pipeline.feed.close();
      await served.close();
      await pipeline.stop();
    };
    cleanups.push(stop);
    const url = `${served.url}/api/events`;
    await until('it follows the stream', async () => {
      const stream = await RawStream.open(url).catch(() => null);
      stream?.close();
      return stream !== null;
    });
    return { url, stop };
  }

  const WRITERS = 12;
  const EACH = 25;

  /** Writes events and commits them after a while of its own, so that commits overtake each other. */
  async function write(writer: number, bell: Notifications): Promise<void> {
    for (let n = 0; n < EACH; n += 1) {
      await database.db.transaction().execute(async (tx) => {
        const data = {
          issueNumber: writer + 1,
          repo: 'acme/shop',
          status: `${n}`,
          actorType: 'agent',
          state: 'planning',
        };
        await insertRecords(tx, 1, { ...noRecords(), stream: [{ type: 'issue-status', data }] });
        await sleep(Math.random() * 40);
      });
      bell.notify('svc_stream', [1]);
      await sleep(Math.random() * 40);
    }
  }

  test('two replicas, commits out of order, clients that hop, a replica that restarts: all see all, once, in one order', async () => {
    const bell = new Notifications({ directUrl: database.url, applicationName: 'writer', sleep, log: silentLogger });
    bell.start();
    cleanups.push(() => bell.close());
    const replicas = [await startReplica(), await startReplica()];
    const counter = () =>
      database.db
        .selectFrom('stream_counter')
        .select('last_id')
        .executeTakeFirstOrThrow()
        .then(({ last_id }) => last_id);
    const first = await counter();
    let last: number | null = null;
    let hops = 0;
    const at = () => {
      hops += 1;
      return replicas[hops % 2]?.url ?? '';
    };
    const travellers = Array.from({ length: 5 }, () => new Traveller(first));
    const travels = travellers.map((traveller) => traveller.travel(at, () => last));
    const writing = Array.from({ length: WRITERS }, (_, writer) => write(writer, bell));
    await sleep(400);
    await replicas[1]?.stop();
    replicas[1] = await startReplica();
    await Promise.all(writing);
    await until('all have their ids', async () => {
      const waiting = await database.db.selectFrom('stream_outbox').select('id').execute();
      return waiting.length === 0;
    });
    last = (await counter()) ?? first;
    await Promise.all(travels);
    const facts = await database.db
      .selectFrom('stream_events')
      .select(['id', 'event_type', 'data'])
      .orderBy('id')
      .execute();
    expect(facts.filter(({ event_type }) => event_type === 'issue-status')).toHaveLength(WRITERS * EACH);
    const ids = facts.filter(({ event_type, id }) => event_type !== 'heartbeat' && id > first).map(({ id }) => id);
    const beats = new Set(facts.filter(({ event_type }) => event_type === 'heartbeat').map(({ id }) => id));
    for (const { ids: seen, gaps } of travellers) {
      expect(gaps).toBe(0);
      expect(seen.slice(1).filter((id) => !beats.has(id))).toEqual(ids);
    }
    expect(hops).toBeGreaterThan(20);
  });

  test('sends the events of successive transactions about an issue in that order, for every writer', async () => {
    const facts = await database.db
      .selectFrom('stream_events')
      .select('data')
      .where('event_type', '=', 'issue-status')
      .orderBy('id')
      .execute();
    const sent = facts.map(({ data }) => data as { issueNumber: number; status: string });
    for (let writer = 1; writer <= WRITERS; writer += 1) {
      const mine = sent.filter(({ issueNumber }) => issueNumber === writer).map(({ status }) => Number(status));
      expect(mine).toEqual(Array.from({ length: EACH }, (_, n) => n));
    }
  });

  afterAll(() => database.clear());
});
