import { expect, test } from '@jest/globals';
import { testDatabase } from '@pipeline/testing';
import { type RawBuilder, sql } from 'kysely';
import {
  deleteOldChecks,
  deleteOldDeliveries,
  deleteOldInvitations,
  deleteOldLoopProblems,
  deleteOldProjections,
  deleteOldRuns,
  deleteOldWorkers,
  ensureTenant,
  inTransaction,
  upsertRepo,
} from '../../src/index.ts';
import { aRepo } from '../a-repo.ts';

const database = testDatabase();
const fleet = () => database.store.db;
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

const ids = async (of: RawBuilder<unknown>) => {
  const { rows } = await sql<{ id: string }>`select id from (${of}) q (id) order by id`.execute(database.db);
  return rows.map(({ id }) => id);
};

test('deletes a batch of old checks, the oldest first, but not those of the head of an open pull request', async () => {
  const tenantId = await ensureTenant(database.db, 'checks');
  const { id: repoId } = await inTransaction(database.store.db, (tx) => upsertRepo(tx, tenantId, aRepo('acme/shop')));
  const checks = (sha: string, count: number, age: string) =>
    sql`
      insert into commit_checks (tenant_id, repo_id, sha, kind, name, state, host_id, reported_at)
      select ${tenantId}, ${repoId}, ${sha}, 'status', n::text, 'success', n, now() - ${age}::interval
      from generate_series(1, ${count}::int) n`.execute(database.db);
  for (const [n, state] of ['open', 'closed'].entries())
    await sql`
      insert into pull_requests (tenant_id, repo_id, number, state, title, body, url, head_ref, base_ref, head_sha, opened_at)
      values (${tenantId}, ${repoId}, ${n + 1}, ${state}, '', '', '', 'h', 'b', ${state}, now())`.execute(database.db);
  await checks('open', 2, '500 days');
  await checks('closed', 2, '401 days');
  await checks('older', BATCH, '450 days');
  await checks('young', 2, '399 days');
  const left = () => ids(sql`select distinct sha from commit_checks`);

  expect(await deleteOldChecks(fleet(), 400)).toBe(true);
  expect(await left()).toEqual(['closed', 'open', 'young']);
  expect(await deleteOldChecks(fleet(), 400)).toBe(false);
  expect(await left()).toEqual(['open', 'young']);
});

test('deletes invitations that ended long ago, however they ended', async () => {
  const tenantId = await ensureTenant(database.db, 'invitations');
  const invitation = (id: string, times: { expires: string; accepted?: string; revoked?: string }) =>
    sql`
      insert into invitations (tenant_id, id, token_hash, email, role, invited_by, expires_at, accepted_at, revoked_at)
      values (${tenantId}, ${id}, ${id}, 'a@b', 'member', 'x', now() - ${times.expires}::interval,
        now() - ${times.accepted ?? null}::interval, now() - ${times.revoked ?? null}::interval)`.execute(database.db);
  await invitation('accepted long ago', { expires: '84 days', accepted: '91 days' });
  await invitation('revoked long ago', { expires: '84 days', revoked: '91 days' });
  await invitation('expired long ago', { expires: '91 days' });
  await invitation('accepted', { expires: '84 days', accepted: '89 days' });
  await invitation('expired', { expires: '89 days' });
  await invitation('open', { expires: '-1 day' });

  expect(await deleteOldInvitations(fleet(), 90 * DAY_MS)).toBe(false);
  expect(await ids(sql`select id from invitations where tenant_id = ${tenantId}`)).toEqual([
    'accepted',
    'expired',
    'open',
  ]);
});

test('deletes workers that left long ago with their periods', async () => {
  const tenantId = await ensureTenant(database.db, 'workers');
  for (const [id, left] of [
    ['gone', '91 days'],
    ['left', '89 days'],
    ['silent', null],
  ] as const) {
    await sql`
      insert into workers (tenant_id, id, name, hostname, version, repos, task_types, labels, status, registered_at, left_at)
      values (${tenantId}, ${id}, ${id}, 'h', '1', '{}', '{plan}', '{}', 'offline', now() - interval '99 days',
        now() - ${left}::interval)`.execute(database.db);
    await sql`
      insert into worker_periods (tenant_id, worker_id, kind, started_at)
      values (${tenantId}, ${id}, 'online', now() - interval '99 days')`.execute(database.db);
  }

  expect(await deleteOldWorkers(fleet(), 90 * DAY_MS)).toBe(false);
  expect(await ids(sql`select id from workers where tenant_id = ${tenantId}`)).toEqual(['left', 'silent']);
  expect(await ids(sql`select worker_id from worker_periods where tenant_id = ${tenantId}`)).toEqual([
    'left',
    'silent',
  ]);
});

test('deletes problems of loops that no process has confirmed for long', async () => {
  for (const [process, age] of [
    ['ended', '31 days'],
    ['running', '1 minute'],
  ])
    await sql`
      insert into loop_problems (process, loop, problem, failures, since, seen_at)
      values (${process}, 'sla', 'late', 0, now(), now() - ${age}::interval)`.execute(database.db);
  await deleteOldLoopProblems(fleet(), 30 * DAY_MS);
  expect(await ids(sql`select process from loop_problems`)).toEqual(['running']);
});
