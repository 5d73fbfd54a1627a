import { beforeEach, describe, expect, test } from '@jest/globals';
import { testDatabase } from '@pipeline/testing';
import { sql } from 'kysely';
import {
  insertRecords,
  inTransaction,
  newestFacts,
  noRecords,
  sequenceHeartbeat,
  sequenceStream,
  streamAfter,
  streamHead,
  type Tx,
} from '../../src/index.ts';

const database = testDatabase();

beforeEach(async () => {
  for (const table of ['stream_outbox', 'stream_events'] as const) await database.db.deleteFrom(table).execute();
});

const emit = (tx: Tx, data: Record<string, unknown>) =>
  insertRecords(tx, 1, { ...noRecords(), stream: [{ type: 'issue-status', data }] });
const emitOne = (n: number) => inTransaction(database.store.db, (tx) => emit(tx, { n, list: [n] }));
const stream = () => database.db.selectFrom('stream_events').select(['id', 'data']).orderBy('id').execute();
const numbers = async () => (await stream()).map(({ data }) => (data as { n: number }).n);

describe('the event stream', () => {
  test('assigns ids once, in order of arrival', async () => {
    for (let n = 0; n < 5; n += 1) await emitOne(n);
    const events = await sequenceStream(database.store.db);
    expect(events.map(({ data }) => data.n)).toEqual([0, 1, 2, 3, 4]);
    expect(await streamAfter(database.store.db, (events[0]?.id ?? 0) - 1)).toEqual(events);
    expect(await sequenceStream(database.store.db)).toEqual([]);
    expect(await numbers()).toEqual([0, 1, 2, 3, 4]);
    expect((await stream())[0]?.data).toEqual({ n: 0, list: [0] });
    const left = await database.db.selectFrom('stream_outbox').selectAll().execute();
    expect(left).toEqual([]);
  });

  test('assigns a late commit a higher id than all events visible before it', async () => {
    let commit = () => {};
    const held = new Promise<void>((resolve) => {
      commit = resolve;
    });
    const late = database.db.transaction().execute(async (tx) => {
      await emit(tx, { n: 100 });
      await held;
    });
    await emitOne(1);
    await sequenceStream(database.store.db);
    const before = (await stream()).at(-1)?.id ?? 0;
    commit();
    await late;
    await sequenceStream(database.store.db);
    expect(await numbers()).toEqual([1, 100]);
    expect((await stream()).at(-1)?.id).toBeGreaterThan(before);
  });

  test('neither loses nor repeats an event, nor leaves a gap, with many concurrent sequencers', async () => {
    for (let n = 0; n < 40; n += 1) await emitOne(n);
    const rounds = Array.from({ length: 8 }, () => sequenceStream(database.store.db));
    const moved = (await Promise.all(rounds)).flat().length;
    expect(moved).toBe(40);
    const ids = (await stream()).map(({ id }) => id);
    expect(ids).toEqual(ids.map((_id, index) => (ids[0] ?? 0) + index));
  });

  test('leaves the batch to a sequencer that holds the lock', async () => {
    await emitOne(1);
    await database.db.transaction().execute(async (tx) => {
      await sql`select pg_advisory_xact_lock(hashtextextended('pipeline.stream', 0))`.execute(tx);
      expect(await sequenceStream(database.store.db)).toEqual([]);
    });
    expect(await sequenceStream(database.store.db)).toHaveLength(1);
  });

  test('keeps the newest 10,000 events, deleting every thousand', async () => {
    await database.db.updateTable('stream_counter').set({ last_id: 19_998 }).execute();
    await sql`
      insert into stream_events (id, tenant_id, event_type, data)
      select n, 1, 'alert', '{}' from generate_series(9980, 19998) n`.execute(database.db);
    const seen = async () => {
      await emitOne(1);
      await sequenceStream(database.store.db);
      const all = await stream();
      return [all.length, all[0]?.id, all.at(-1)?.id];
    };
    expect(await seen()).toEqual([10_020, 9_980, 19_999]);
    expect(await seen()).toEqual([10_000, 10_001, 20_000]);
  });

  test('reads on after the last id of the reader', async () => {
    for (let n = 0; n < 3; n += 1) await emitOne(n);
    const head = await streamHead(database.store.db);
    await sequenceStream(database.store.db);
    expect(await streamHead(database.store.db)).toBe(head + 3);
    const events = await streamAfter(database.store.db, head + 1);
    expect(events).toMatchObject([
      { id: head + 2, tenantId: 1, type: 'issue-status', data: { n: 1 } },
      { id: head + 3, tenantId: 1, type: 'issue-status', data: { n: 2 } },
    ]);
    expect(await newestFacts(database.store.db, head + 2, 1)).toEqual([events[0]]);
  });
});

describe('an event whose predecessor is missing', () => {
  const missingOne = async () => {
    const { store, clock } = database;
    clock.now = new Date('2026-03-01T11:00:00Z');
    for (let n = 0; n < 4; n += 1) await emitOne(n);
    const ids = (await sequenceStream(store.db)).map(({ id }) => id);
    await database.db
      .deleteFrom('stream_events')
      .where('id', '=', ids[1] ?? 0)
      .execute();
    return ids;
  };
  const after = async (id: number) => (await streamAfter(database.store.db, id)).map((event) => event.id);

  test('holds the event back while a commit on another server may be in progress', async () => {
    const [first = 0, second = 0, third, fourth] = await missingOne();
    expect(await after(first - 1)).toEqual([first]);
    expect(await after(first)).toEqual([]);
    expect(await after(second)).toEqual([third, fourth]);
  });

  test('returns the event when the predecessor is missing for five seconds', async () => {
    const [first = 0, , third, fourth] = await missingOne();
    database.clock.now = new Date('2026-03-01T11:00:05.001Z');
    expect(await after(first)).toEqual([third, fourth]);
  });

  test('returns the event at once when the predecessor was deleted by age', async () => {
    const [first = 0, , third, fourth] = await missingOne();
    await database.db
      .updateTable('stream_counter')
      .set({ last_id: first + 1 + 10_000 })
      .execute();
    expect(await after(first)).toEqual([third, fourth]);
  });
});

describe('the heartbeat of the stream', () => {
  const beats = () =>
    database.db.selectFrom('stream_events').select('id').where('event_type', '=', 'heartbeat').execute();

  test('several replicas write one heartbeat per interval', async () => {
    database.clock.now = new Date('2026-03-01T12:00:00Z');
    const tries = () => Promise.all([1, 2, 3, 4].map(() => sequenceHeartbeat(database.store.db, 30_000)));
    await tries();
    await tries();
    expect(await beats()).toHaveLength(1);
    database.clock.now = new Date('2026-03-01T12:00:29.999Z');
    await tries();
    expect(await beats()).toHaveLength(1);
    database.clock.now = new Date('2026-03-01T12:00:30Z');
    await tries();
    expect(await beats()).toHaveLength(2);
  });

  test('a heartbeat has an id in order with the facts; no later fact has a lower id', async () => {
    database.clock.now = new Date('2026-03-01T13:00:00Z');
    await emitOne(1);
    await sequenceStream(database.store.db);
    const head = await streamHead(database.store.db);
    expect(await sequenceHeartbeat(database.store.db, 30_000)).toBe(true);
    await emitOne(2);
    await sequenceStream(database.store.db);
    const types = (await streamAfter(database.store.db, head)).map(({ id, type }) => [id - head, type]);
    expect(types).toEqual([
      [1, 'heartbeat'],
      [2, 'issue-status'],
    ]);
    const facts = await newestFacts(database.store.db, head + 2, 2);
    expect(facts.map(({ id }) => id - head)).toEqual([0, 2]);
  });
});
