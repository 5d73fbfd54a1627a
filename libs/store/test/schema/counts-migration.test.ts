import { expect, test } from '@jest/globals';
import { testDatabase } from '@pipeline/testing';
import { sql } from 'kysely';
import { MIGRATIONS } from '../../src/schema/migrations/index.ts';

const database = testDatabase();

test('carries hourly counts over to days and months, in UTC', async () => {
  const { db } = database;
  await sql`drop table transition_counts, task_counts`.execute(db);
  for (const [table, of] of [
    ['transition_hours', ['from_state', 'to_state']],
    ['task_hours', ['event_type', 'task_type']],
  ] as const) {
    await sql`
      create table ${sql.table(table)} (tenant_id bigint, repo_id bigint, ${sql.ref(of[0])} text, ${sql.ref(of[1])} text,
        hour timestamptz, n bigint)`.execute(db);
    await sql`
      insert into ${sql.table(table)} values
        (1, 2, 'a', 'b', '2026-01-31T22:00:00Z', 1), (1, 2, 'a', 'b', '2026-01-31T23:00:00Z', 2),
        (1, 2, 'a', 'b', '2026-02-01T00:00:00Z', 4), (1, 3, 'a', 'b', '2026-02-01T00:00:00Z', 8)`.execute(db);
  }
  await sql`set time zone 'Pacific/Auckland'`.execute(db);
  await MIGRATIONS['0027-counts-by-month']?.up(db as never);
  for (const table of ['transition_counts', 'task_counts']) {
    const { rows } = await sql<{ repo: number; grain: string; at: string; n: number }>`
      select repo_id as repo, grain, to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI') as at, n
      from ${sql.table(table)} order by 1, 2, 3`.execute(db);
    expect(rows).toEqual([
      { repo: 2, grain: 'day', at: '2026-01-31T00:00', n: 3 },
      { repo: 2, grain: 'day', at: '2026-02-01T00:00', n: 4 },
      { repo: 2, grain: 'month', at: '2026-01-01T00:00', n: 3 },
      { repo: 2, grain: 'month', at: '2026-02-01T00:00', n: 4 },
      { repo: 3, grain: 'day', at: '2026-02-01T00:00', n: 8 },
      { repo: 3, grain: 'month', at: '2026-02-01T00:00', n: 8 },
    ]);
  }
});
