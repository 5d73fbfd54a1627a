import { expect, test } from '@jest/globals';
import { testDatabase } from '@pipeline/testing';
import { sql } from 'kysely';
import { deleteOldDeliveries, deleteOldProjections, deleteOldRuns, ensureTenant } from '../../src/index.ts';

const database = testDatabase();
const fleet = () => database.store.fleet;
const BATCH = 5_000;
const DAY_MS = 24 * 60 * 60_000;

test('deletes a batch of handled deliveries, the oldest first, and keeps open ones', async () => {
  const deliveries = (prefix: string, count: number, age: string | null) =>
    sql`
      insert into webhook_deliveries (delivery_id, event, events, lane, received_at, processed_at)
      select ${prefix} || n, 'issues', '[]', 'x', now() - interval '9 days', now() - ${age}::interval
      from generate_series(1, ${count}::int) n`.execute(database.db);
  await deliveries('late-', 10, '8 days');
  await deliveries('early-', BATCH, '9 days');
  await deliveries('new-', 3, '6 days');
  await deliveries('open-', 2, null);
  const left = async () => {
    const { rows } = await sql<{ kind: string; n: number }>`
      select split_part(delivery_id, '-', 1) as kind, count(*) as n from webhook_deliveries group by 1`.execute(
      database.db,
    );
    return Object.fromEntries(rows.map(({ kind, n }) => [kind, n]));
  };

  expect(await deleteOldDeliveries(fleet(), 7 * DAY_MS)).toBe(true);
  expect(await left()).toEqual({ late: 10, new: 3, open: 2 });
  expect(await deleteOldDeliveries(fleet(), 7 * DAY_MS)).toBe(false);
  expect(await left()).toEqual({ new: 3, open: 2 });
});

test('deletes a batch of runs by their end and of outbox entries by their settlement, the oldest first', async () => {
  const tenantId = await ensureTenant(database.db, 'acme');
  // In the table the newest rows come first, as where they took the place of deleted ones.
  await sql`
    insert into runs (tenant_id, task_id, work_id, repo_id, task_type, attempt, agent, worker_id, claim_token_hash, status,
      claimed_at, finished_at, lease_expires_at)
    select ${tenantId}, gen_random_uuid(), gen_random_uuid(), 1, 'plan', 0, 'a', 'w', n::text, 'finished',
      now() - interval '500 days', now() - interval '400 days' - make_interval(mins => n), now()
    from generate_series(1, ${BATCH + 2}::int) n`.execute(database.db);
  await sql`
    insert into projections (tenant_id, repo_id, issue_number, lane, action, status, max_attempts, client_type,
      idempotency_key, updated_at)
    select ${tenantId}, 1, 1, 'labels', '{}', s, 1, 'sandbox', s || n, now() - interval '90 days' - make_interval(mins => n)
    from generate_series(1, ${BATCH + 2}::int) n, unnest(array['complete', 'discarded', 'failed']) s`.execute(
    database.db,
  );
  const left = async () => {
    const { rows } = await sql<{ what: string; ages: number[] }>`
      select 'runs' as what, array_agg(claim_token_hash::int order by 1) as ages from runs
      union all
      select status, array_agg(extract(epoch from now() - interval '90 days' - updated_at)::int / 60 order by updated_at desc)
      from projections where status <> 'failed' group by 1 order by 1`.execute(database.db);
    return rows;
  };

  expect(await deleteOldRuns(fleet(), 400)).toBe(true);
  expect(await deleteOldProjections(fleet(), 90)).toBe(true);
  expect(await left()).toEqual([
    { what: 'complete', ages: [1, 2] },
    { what: 'discarded', ages: [1, 2] },
    { what: 'runs', ages: [1, 2] },
  ]);
  expect(await deleteOldRuns(fleet(), 400)).toBe(false);
  expect(await deleteOldProjections(fleet(), 90)).toBe(false);
  expect(await left()).toEqual([{ what: 'runs', ages: null }]);
});
