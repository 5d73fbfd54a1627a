import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { testDatabase } from '@pipeline/testing';
import { until } from '@pipeline/testing/until';
import { sql } from 'kysely';
import { dropPartitions, ensureTenant, makePartitions, monthsOf } from '../../src/index.ts';

const database = testDatabase();
const fleet = () => database.store.db;
let tenantId = 0;

beforeEach(async () => {
  tenantId = await ensureTenant(database.db, 'acme');
});
afterEach(() => {
  database.clock.now = null;
});

const at = (time: string) => {
  database.clock.now = new Date(time);
};
const addEvent = (time: string) =>
  sql`
    insert into pipeline_events (tenant_id, created_at, repo_id, event_type, agent, payload)
    values (${tenantId}, ${time}, 1, 'state_transition', 'x', '{}')`.execute(database.db);
/** Partition -> its rows. */
const placed = async () => {
  const { rows } = await sql<{ place: string; n: number }>`
    select tableoid::regclass::text as place, count(*) as n from pipeline_events group by 1 order by 1`.execute(
    database.db,
  );
  return Object.fromEntries(rows.map(({ place, n }) => [place.replace('pipeline.', ''), n]));
};

describe('partitions', () => {
  test('creates partitions once for this month and the next ones, across the turn of the year', async () => {
    at('2031-11-15T12:00:00Z');
    expect(await makePartitions(fleet(), 'cost_events', 3)).toEqual(['2031-11', '2031-12', '2032-01', '2032-02']);
    expect(await makePartitions(fleet(), 'cost_events', 3)).toEqual([]);
    at('2031-12-01T00:00:00Z');
    expect(await makePartitions(fleet(), 'cost_events', 3)).toEqual(['2032-03']);
  });

  test('take their rows from the default partition when created late', async () => {
    at('2033-05-10T00:00:00Z');
    for (const time of ['2033-05-01T00:00:00Z', '2033-05-31T23:59:59.999Z', '2033-06-01T00:00:00Z'])
      await addEvent(time);
    await addEvent('2019-02-03T00:00:00Z');
    expect(await placed()).toEqual({ pipeline_events_default: 4 });
    expect(await makePartitions(fleet(), 'pipeline_events', 0)).toEqual(['2019-02', '2033-05', '2033-06']);
    expect(await placed()).toEqual({
      pipeline_events_2019_02: 1,
      pipeline_events_2033_05: 2,
      pipeline_events_2033_06: 1,
    });
    await addEvent('2033-05-20T00:00:00Z');
    expect(await placed()).toMatchObject({ pipeline_events_2033_05: 3 });
  });

  test('each partition has all indexes of its table', async () => {
    at('2035-01-10T00:00:00Z');
    await makePartitions(fleet(), 'issue_events', 0);
    const { rows } = await sql<{ left: number }>`
      select (select count(*) from pg_index where indrelid = 'pipeline.issue_events'::regclass)
        - (select count(*) from pg_index where indrelid = 'pipeline.issue_events_2035_01'::regclass) as left`.execute(
      database.db,
    );
    expect(rows).toEqual([{ left: 0 }]);
  });

  test('drops partitions with their counts when their last day exceeds the retention', async () => {
    at('2041-01-01T00:00:00Z');
    await makePartitions(fleet(), 'pipeline_events', 2);
    await addEvent('2041-01-31T00:00:00Z');
    await addEvent('2041-02-01T00:00:00Z');
    const count = (month: string) =>
      sql`
        insert into event_counts (tenant_id, repo_id, event_type, grain, at, n)
        values (${tenantId}, 1, 'state_transition', 'month', ${month}, 1)`.execute(database.db);
    await count('2041-01-01T00:00:00Z');
    await count('2041-02-01T00:00:00Z');
    // The last of January is 30 days ago, and so kept, until March has begun.
    at('2041-03-01T23:59:59Z');
    expect((await dropPartitions(fleet(), 'pipeline_events', 30)).filter((month) => month > '2041')).toEqual([]);
    at('2041-03-03T00:00:00Z');
    expect(await dropPartitions(fleet(), 'pipeline_events', 30)).toEqual(['2041-01']);
    expect((await monthsOf(fleet(), 'pipeline_events')).filter((month) => month > '2040')).toEqual([
      '2041-02',
      '2041-03',
    ]);
    const left = await database.db.selectFrom('event_counts').select('at').execute();
    expect(left).toEqual([{ at: '2041-02-01T00:00:00.000Z' }]);
    expect(await placed()).toMatchObject({ pipeline_events_2041_02: 1 });
  });

  test('drops partitions without a wait of writers for their counts', async () => {
    at('2061-01-01T00:00:00Z');
    await makePartitions(fleet(), 'pipeline_events', 0);
    await sql`
      insert into event_counts (tenant_id, repo_id, event_type, grain, at, n)
      values (${tenantId}, 1, 'state_transition', 'month', '2061-01-01T00:00:00Z', 1)`.execute(database.db);
    const held = await database.db.startTransaction().execute();
    await sql`select from event_counts where at = '2061-01-01T00:00:00Z' for update`.execute(held);
    at('2062-01-01T00:00:00Z');
    const dropped = dropPartitions(fleet(), 'pipeline_events', 30);
    try {
      await until('the drop waits for the counts', async () => {
        const { rows } = await sql`
          select from pg_stat_activity where wait_event_type = 'Lock' and query like '%event_counts%'
            and datname = current_database() and pid <> pg_backend_pid()`.execute(database.db);
        return rows.length > 0;
      });
      await database.db.transaction().execute(async (tx) => {
        await sql`set local lock_timeout = '1s'`.execute(tx);
        await sql`
          insert into pipeline_events (tenant_id, created_at, repo_id, event_type, agent, payload)
          values (${tenantId}, '2062-01-01T00:00:00Z', 1, 'state_transition', 'x', '{}')`.execute(tx);
      });
    } finally {
      await held.rollback().execute();
    }
    expect((await dropped).filter((month) => month > '2060')).toEqual(['2061-01']);
  });

  test('throws and leaves the partitions unchanged when a writer holds the table for too long', async () => {
    at('2051-01-01T00:00:00Z');
    await makePartitions(fleet(), 'agent_messages', 0);
    const held = await database.db.startTransaction().execute();
    await sql`lock table agent_messages in row exclusive mode`.execute(held);
    await sql`lock table agent_messages_default in row exclusive mode`.execute(held);
    at('2052-01-01T00:00:00Z');
    const locked = expect.objectContaining({ code: '55P03' });
    await expect(makePartitions(fleet(), 'agent_messages', 0)).rejects.toEqual(locked);
    await expect(dropPartitions(fleet(), 'agent_messages', 30)).rejects.toEqual(locked);
    await held.rollback().execute();
    expect((await monthsOf(fleet(), 'agent_messages')).filter((month) => month > '2050')).toEqual(['2051-01']);
    expect(await makePartitions(fleet(), 'agent_messages', 0)).toEqual(['2052-01']);
  });
});
