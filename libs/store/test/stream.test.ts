import { beforeEach, describe, expect, test } from '@jest/globals';
import { testDatabase } from '@pipeline/testing';
import { sql } from 'kysely';
import { insertRecords, inTransaction, noRecords, sequenceStream, type Tx } from '../src/index.ts';

const database = testDatabase();

beforeEach(async () => {
  for (const table of ['stream_outbox', 'stream_events'] as const) await database.db.deleteFrom(table).execute();
});

const emit = (tx: Tx, data: Record<string, unknown>) =>
  insertRecords(tx, 1, { ...noRecords(), stream: [{ type: 'issue-status', data }] });
const tell = (n: number) => inTransaction(database.store.tenant, (tx) => emit(tx, { n, list: [n] }));
const stream = () => database.db.selectFrom('stream_events').select(['id', 'data']).orderBy('id').execute();
const numbers = async () => (await stream()).map(({ data }) => (data as { n: number }).n);

describe('the event stream', () => {
  test('gives events ids in the order in which they came, once', async () => {
    for (let n = 0; n < 5; n += 1) await tell(n);
    expect(await sequenceStream(database.store.fleet)).toBe(5);
    expect(await sequenceStream(database.store.fleet)).toBe(0);
    expect(await numbers()).toEqual([0, 1, 2, 3, 4]);
    expect((await stream())[0]?.data).toEqual({ n: 0, list: [0] });
    const left = await database.db.selectFrom('stream_outbox').selectAll().execute();
    expect(left).toEqual([]);
  });

  test('an event that commits late gets a later id than all that were visible before it', async () => {
    let commit = () => {};
    const held = new Promise<void>((resolve) => {
      commit = resolve;
    });
    const late = database.db.transaction().execute(async (tx) => {
      await emit(tx, { n: 100 });
      await held;
    });
    await tell(1);
    await sequenceStream(database.store.fleet);
    const before = (await stream()).at(-1)?.id ?? 0;
    commit();
    await late;
    await sequenceStream(database.store.fleet);
    expect(await numbers()).toEqual([1, 100]);
    expect((await stream()).at(-1)?.id).toBeGreaterThan(before);
  });

  test('many sequencers at once lose nothing, repeat nothing and leave no gap', async () => {
    for (let n = 0; n < 40; n += 1) await tell(n);
    const rounds = Array.from({ length: 8 }, () => sequenceStream(database.store.fleet));
    const moved = (await Promise.all(rounds)).reduce((sum, n) => sum + n, 0);
    expect(moved).toBe(40);
    const ids = (await stream()).map(({ id }) => id);
    expect(ids).toEqual(ids.map((_id, index) => (ids[0] ?? 0) + index));
  });

  test('leaves the batch to a sequencer that is at it', async () => {
    await tell(1);
    await database.db.transaction().execute(async (tx) => {
      await sql`select pg_advisory_xact_lock(hashtextextended('pipeline.stream', 0))`.execute(tx);
      expect(await sequenceStream(database.store.fleet)).toBe(0);
    });
    expect(await sequenceStream(database.store.fleet)).toBe(1);
  });

  test('keeps the newest 10,000', async () => {
    await database.db.updateTable('stream_counter').set({ last_id: 20_000 }).execute();
    await sql`
      insert into stream_events (id, tenant_id, event_type, data)
      select n, 1, 'alert', '{}' from generate_series(9990, 20000) n`.execute(database.db);
    await tell(1);
    await sequenceStream(database.store.fleet);
    const all = await stream();
    expect([all.length, all[0]?.id, all.at(-1)?.id]).toEqual([10_000, 10_002, 20_001]);
  });
});
