import { expect, test } from '@jest/globals';
import { testDatabase } from '@pipeline/testing';
import { sql } from 'kysely';
import { checkIssueList } from '../../src/index.ts';
import { MIGRATIONS } from '../../src/schema/migrations/index.ts';
import { makeWorld } from '../consistency-world.ts';

const database = testDatabase();

test('creates list rows and counts of existing issues', async () => {
  const { db } = database;
  const world = await makeWorld(database, 'acme/shop');
  const { tenantId, repoId } = world.scope;
  await sql`
    insert into issues (tenant_id, repo_id, issue_number, title, body, url, state, labels, is_paused, current_status,
      host_created_at, host_updated_at, cost_usd)
    select ${tenantId}, ${repoId}, n, repeat('t', n * 10), '', 'http://host/' || n,
      case when n % 3 = 0 then 'done' else 'planning' end, array_fill('a label'::text, array[n]), n % 5 = 0,
      repeat('s', n * 7), now(), now(), n / 7.0
    from generate_series(1, 60) n`.execute(db);
  await world.edge('depends_on', 4, 3, false);
  await world.edge('subtask', 4, 2);
  await sql`drop table issue_list, issue_counts, issue_count_deltas`.execute(db);
  await sql`drop sequence issue_count_delta_id_seq`.execute(db);
  await sql`drop index runs_failed_of_repo, cost_events_of_repo, findings_of_repo`.execute(db);
  await MIGRATIONS['0013-issue-lists']?.up(db as never);
  const clean = { missing: 0, surplus: 0, stale: 0, miscounted: 0 };
  expect(await checkIssueList(db, tenantId)).toEqual(clean);
  const { rows } = await sql<{ n: number }>`select sum(n)::int as n from issue_counts`.execute(db);
  expect(rows).toEqual([{ n: 60 }]);
});
