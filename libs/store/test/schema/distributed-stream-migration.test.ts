import { beforeAll, expect, test } from '@jest/globals';
import { testDatabase } from '@pipeline/testing';
import { sql } from 'kysely';
import { aggregateRollups, sequenceStream, streamAfter, unfoldedDeltas } from '../../src/index.ts';
import { MIGRATIONS } from '../../src/schema/migrations/index.ts';

const database = testDatabase();

/** The keys before migrations 0050 and 0051. */
const EARLIER_KEYS = [
  'alter table rollup_deltas drop constraint rollup_deltas_pkey, add primary key (id)',
  'drop index stream_events_in_order',
  'alter table stream_events drop constraint stream_events_pkey, add primary key (id)',
  'alter table stream_counter drop column tenant_id, add primary key (id)',
];

/** The statement by which the release before 0051 numbers events. */
const EARLIER_SEQUENCE = `
  with moved as (
    delete from stream_outbox
    where id in (select o.id from stream_outbox o order by o.id limit 500)
    returning tenant_id, id, event_type, data, created_at
  ), counter as (
    update stream_counter set last_id = last_id + (select count(*) from moved)
    where id = 1 and exists (select from moved)
    returning last_id
  )
  insert into stream_events (id, tenant_id, event_type, data, created_at)
  select c.last_id - count(*) over () + row_number() over (order by m.id), m.tenant_id, m.event_type, m.data, m.created_at
  from moved m cross join counter c`;

const emit = (n: number) =>
  sql`insert into stream_outbox (tenant_id, event_type, data) values (1, 'alert', ${JSON.stringify({ n })}::jsonb)`.execute(
    database.db,
  );
const append = () =>
  sql`
    insert into rollup_deltas (tenant_id, repo_id, body)
    values (1, 2, '{"events": [{"type": "task_claimed", "task": "plan", "n": 1}]}')`.execute(database.db);
const claims = () =>
  database.db.selectFrom('event_counts').select(['tenant_id', 'n']).where('grain', '=', 'month').execute();

beforeAll(async () => {
  for (const statement of EARLIER_KEYS) await sql.raw(statement).execute(database.db);
  await append();
  await emit(1);
  await sql.raw(EARLIER_SEQUENCE).execute(database.db);
  await emit(2);
  await MIGRATIONS['0050-distributed-rollups']?.up(database.db as never);
  await MIGRATIONS['0051-distributed-stream']?.up(database.db as never);
});

test('keeps numbered and unnumbered events when the stream gets keys by tenant', async () => {
  expect(await sequenceStream(database.store.fleet)).toMatchObject([{ id: 2, data: { n: 2 } }]);
  expect((await streamAfter(database.store.fleet, 0)).map(({ id, data }) => [id, data.n])).toEqual([
    [1, 1],
    [2, 2],
  ]);
});

test('continues the ids when an earlier release numbers events on the new schema', async () => {
  await emit(3);
  await sql.raw(EARLIER_SEQUENCE).execute(database.db);
  await emit(4);
  await sequenceStream(database.store.fleet);
  expect((await streamAfter(database.store.fleet, 2)).map(({ id, data }) => [id, data.n])).toEqual([
    [3, 3],
    [4, 4],
  ]);
});

test('aggregates pending deltas once when deltas get keys by tenant', async () => {
  await append();
  expect(await unfoldedDeltas(database.store.fleet)).toBe(2);
  await aggregateRollups(database.store.fleet);
  expect(await unfoldedDeltas(database.store.fleet)).toBe(0);
  expect(await claims()).toEqual([{ tenant_id: 1, n: 2 }]);
});
