import { beforeAll, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { testDatabase } from '../src/index.ts';
import { type Catalogue, readCatalogue } from '../src/sql-lint/catalogue.ts';
import { lintSchema } from '../src/sql-lint/schema-rules.ts';
import { lintStatements } from '../src/sql-lint/statement-rules.ts';

const database = testDatabase();
let client: pg.Client;
let catalogue: Catalogue;

beforeAll(async () => {
  client = new pg.Client(database.adminUrl);
  database.defer(() => client.end());
  await client.connect();
  catalogue = await readCatalogue(client);
});

const findings = async (text: string) =>
  (await lintStatements([text], catalogue)).map((finding) => finding.split('\n')[0]);

describe('statements that run on one shard pass', () => {
  test.each([
    ['a read by tenant', 'select * from issues where tenant_id = $1 and state = $2'],
    ['a literal with a cast', 'select * from pipeline.issues i where 7::bigint = i.tenant_id'],
    [
      'a join whose second table follows the first',
      'select * from issues i join repos r on r.tenant_id = i.tenant_id and r.id = i.repo_id where i.tenant_id = $1',
    ],
    ['a join by using', 'select * from issues i join runs r using (tenant_id, issue_id) where i.tenant_id = $1'],
    ['rows compared', 'select * from issues where (tenant_id, id) = ($1, $2)'],
    [
      'a correlated subquery that names the tenant itself',
      'select (select count(*) from tasks t where t.tenant_id = $1 and t.issue_id = i.id) from issues i where i.tenant_id = $1',
    ],
    [
      'a limit in a subquery of one tenant',
      'select t.id from issues i cross join lateral (select id from tasks where tenant_id = $1 and issue_id = i.id limit 1) t where i.tenant_id = $1',
    ],
    [
      'a choice that reads the clock from a subquery',
      `update tasks set held = case when run_after > n.now then 'backoff' end from (select svc_now() as now) n where tenant_id = $1`,
    ],
    ['a clock that fills a NULL', 'update tasks set started_at = least(started_at, svc_now()) where tenant_id = $1'],
    [
      'a local table that is read before the join',
      `with c as materialized (select tenant_id, name from worker_tokens)
       select r.name, c.name from c join repos r on r.tenant_id = c.tenant_id where r.tenant_id = $1`,
    ],
    ['an advisory lock beside no table', `select pg_advisory_xact_lock(hashtextextended('x', $1))`],
    [
      'an advisory lock beside a local table',
      'update trace_cursor set run_id = 1 where (select pg_try_advisory_xact_lock(1))',
    ],
    ['a union', 'select id from issues where tenant_id = $1 union all select id from runs where tenant_id = $1'],
    [
      'the claim, with the tenant on both levels',
      `with c as (select id from tasks where tenant_id = $1 and status = 'pending' order by turn limit $2 for update skip locked)
       update tasks t set status = 'claimed', lease_expires_at = svc_now() + $3::interval, run_id = nextval_of.id
       from c, (select $4::bigint as id) nextval_of where t.tenant_id = $1 and t.id = c.id returning t.id`,
    ],
    [
      'an upsert that takes what was to be inserted',
      `insert into repo_sync (tenant_id, repo_id, etag) values ($1, $2, $3)
       on conflict (tenant_id, repo_id) do update set etag = excluded.etag, polled_at = excluded.polled_at`,
    ],
    [
      'a delete with its archive',
      'with d as (delete from tasks where tenant_id = $1 returning *) insert into runs (tenant_id, id) select tenant_id, 1 from d',
    ],
    [
      'arithmetic on the side of the parameter',
      `delete from tasks where tenant_id = $1 and created_at < svc_now() - interval '1 day'`,
    ],
    [
      'the difference of two times',
      'update issues set cost_usd = extract(epoch from interval $2) where tenant_id = $1 and updated_at - created_at > $3',
    ],
    ['reference and local tables', `update settings set body = $1, updated_at = clock_timestamp() where id = 1`],
    ['what touches no table of ours', 'select pid from pg_stat_activity'],
    ['transaction control', 'start transaction isolation level read committed'],
  ])('%s', async (_name, text) => {
    expect(await findings(text)).toEqual([]);
  });
});

describe('each rule stops what breaks it', () => {
  test.each([
    ['select * from issues where id = $1', 'issues is touched without tenant_id'],
    ['select * from issues where tenant_id = any($1)', 'issues is touched without tenant_id'],
    ['select * from issues where tenant_id = $1 or id = $2', 'issues is touched without tenant_id'],
    [
      'select * from issues where tenant_id = (select id from tenants where external_id = $1)',
      'issues is touched without',
    ],
    [`select * from issues where tenant_id = current_setting('x')::bigint`, 'issues is touched without tenant_id'],
    [
      'update tasks set held = null where (tenant_id, id) in (select tenant_id, id from tasks where tenant_id = $1)',
      'tasks is touched',
    ],
    [
      'with c as (select id from tasks where tenant_id = $1) update tasks t set held = null from c where t.id = c.id',
      'tasks is touched',
    ],
    ['select id from issues where tenant_id = $1 union all select id from runs', 'runs is touched without tenant_id'],
    ['select exists (select from tasks where issue_id = $1)', 'tasks is touched without tenant_id'],
    [
      'select * from issues i join tasks t on t.issue_id = i.id where i.tenant_id = $1',
      'joined without tenant_id = tenant_id',
    ],
    ['select * from tasks where id = $1 for update', 'tasks is locked without tenant_id'],
    [
      'update runs set claim_token_hash = gen_random_uuid()::text where tenant_id = $1',
      'UPDATE calls volatile gen_random_uuid()',
    ],
    [
      'delete from tasks where tenant_id = $1 and created_at < clock_timestamp()',
      'DELETE calls volatile clock_timestamp()',
    ],
    [
      `update tasks set lease_expires_at = lease_expires_at + interval '1 s' where tenant_id = $1`,
      'stable timestamptz + interval',
    ],
    [`delete from tasks where tenant_id = $1 and created_at + interval '5 s' < now()`, 'stable timestamptz + interval'],
    [
      `update tasks t set run_after = svc_now() + t.attempt * interval '1 s' where tenant_id = $1`,
      'stable timestamptz + interval',
    ],
    ['delete from tasks where tenant_id = $1 and created_at::date = $2', 'stable cast to date'],
    ['update issues set current_status = to_jsonb(title) where tenant_id = $1', 'stable to_jsonb()'],
    ['update issues set tenant_id = $2 where tenant_id = $1', 'UPDATE changes the tenant_id of issues'],
    [
      'insert into repo_sync (tenant_id, repo_id) values ($1, $2) on conflict (tenant_id, repo_id) do update set polled_at = svc_now()',
      'DO UPDATE SET uses svc_now()',
    ],
    [
      'insert into repo_sync (tenant_id, repo_id) values ($1, $2) on conflict (tenant_id, repo_id) do update set polled_at = current_timestamp',
      'DO UPDATE SET uses current_timestamp',
    ],
    [
      'insert into repo_sync (tenant_id, repo_id) values ($1, $2) on conflict (tenant_id, repo_id) do update set etag = excluded.etag returning now()',
      'RETURNING after DO UPDATE uses now()',
    ],
    [
      'insert into repo_sync (tenant_id, repo_id) values ($1, $2) on conflict (tenant_id, repo_id) do update set etag = (select 1)',
      'DO UPDATE SET has a subquery',
    ],
    ['insert into tasks (id) values ($1)', 'INSERT into tasks does not name tenant_id'],
    ['insert into tasks select * from unnest($1)', 'INSERT into tasks does not name tenant_id'],
    ['insert into runs (tenant_id, id) values ($1, (select 1))', 'INSERT into runs has a subquery in VALUES'],
    [
      'select (select count(*) from tasks t where t.tenant_id = i.tenant_id and t.issue_id = i.id) from issues i where i.tenant_id = $1',
      'tasks is touched without tenant_id',
    ],
    [
      'select t.id from issues i left join lateral (select id from tasks where tenant_id = i.tenant_id) t on true where i.tenant_id = $1',
      'tasks is touched without tenant_id',
    ],
    [
      'update tasks set started_at = coalesce(started_at, svc_now()) where tenant_id = $1',
      'UPDATE calls svc_now() inside CASE or COALESCE',
    ],
    [
      'update issues set paused_at = case when $2::boolean then svc_now() end where tenant_id = $1',
      'UPDATE calls svc_now() inside CASE or COALESCE',
    ],
    [
      'delete from tasks where tenant_id = $1 and run_after < case when $2::boolean then now() end',
      'DELETE calls now() inside CASE or COALESCE',
    ],
    [
      'insert into repo_sync (tenant_id, repo_id, polled_at) values ($1, $2, coalesce($3, svc_now()))',
      'INSERT calls svc_now() inside CASE or COALESCE',
    ],
    [
      'select r.name from worker_tokens t join repos r on r.tenant_id = t.tenant_id where r.tenant_id = $1',
      'local worker_tokens is joined with distributed repos',
    ],
    [
      'select (select role from memberships m where m.tenant_id = $1 and m.user_id = c.user_id) from oauth_connections c',
      'local oauth_connections is joined with distributed memberships',
    ],
    [
      'select id from repos r where tenant_id = $1 and exists (select from worker_tokens t where t.tenant_id = r.tenant_id)',
      'local worker_tokens is joined with distributed repos',
    ],
    [
      'select pg_advisory_xact_lock(id) from repos where tenant_id = $1',
      'pg_advisory_xact_lock() is called with a FROM',
    ],
    ['select from issues where', 'cannot be parsed'],
  ])('%s', async (text, finding) => {
    expect((await findings(text)).join('\n')).toContain(finding);
  });
});

describe('statements over all tenants', () => {
  const everyone = 'select tenant_id, count(*) from tasks group by tenant_id';

  test('lets a statement over all tenants pass when it states why', async () => {
    expect(await findings(`/* fleet: counts the backlog */ ${everyone}`)).toEqual([]);
    expect(await findings(everyone)).toHaveLength(1);
    expect(await findings(`/* fleet: */ ${everyone}`)).toHaveLength(1);
  });

  test.each([
    ['a join', 'select r.id, u.id from repos r join runs u on u.tenant_id = r.tenant_id and u.repo_id = r.id'],
    [
      'a group of each outer row',
      'select x.n from repos r cross join lateral (select count(*) as n from runs u where u.tenant_id = r.tenant_id group by u.tenant_id) x',
    ],
    ['a limit of the whole', 'select r.id from repos r join (select tenant_id from runs limit 5) u using (tenant_id)'],
    ['a window', 'select row_number() over (partition by tenant_id order by id) from runs'],
    [
      'a subquery that names a relation read before',
      'with x as materialized (select tenant_id, labels from issues) select (select count(*) from unnest(x.labels)) from x',
    ],
  ])('lets %s over all tenants pass', async (_name, text) => {
    expect(await findings(`/* fleet: why not */ ${text}`)).toEqual([]);
  });

  test.each([
    ['select * from issues i join tasks t on t.issue_id = i.id', 'joined without tenant_id'],
    ['select * from tasks order by turn limit 1 for update skip locked', 'locked without tenant_id'],
    ['select repo_id, state, count(*) from issues group by rollup (repo_id, state)', 'GROUPING SETS over all tenants'],
    [
      'with recursive up as (select * from issue_edges union all select e.* from issue_edges e join up using (tenant_id)) select * from up, issues',
      'a recursive query over all tenants',
    ],
    [
      'select x.id from repos r cross join lateral (select id from runs u where u.tenant_id = r.tenant_id order by id limit 3) x',
      'LIMIT in a subquery that names outer r',
    ],
    [
      'select x.id from repos r cross join lateral (select id from runs u where u.tenant_id = r.tenant_id offset 0) x',
      'OFFSET in a subquery that names outer r',
    ],
    [
      'select x.n from repos r cross join lateral (select count(*) as n from runs u where u.tenant_id = r.tenant_id) x',
      'an aggregate without GROUP BY in a subquery that names outer r',
    ],
    [
      'select (select json_agg(q) from (select id from runs u where u.tenant_id = r.tenant_id limit 3) q) from repos r',
      'LIMIT in a subquery that names outer r',
    ],
    ['select l.n from repos r cross join lateral (select r.id + 1 as n) l', 'no FROM in a subquery that names outer r'],
  ])('no reason helps: %s', async (text, finding) => {
    expect((await findings(`/* fleet: why not */ ${text}`)).join('\n')).toContain(finding);
  });
});

describe('the schema', () => {
  test('can be distributed as it is', async () => {
    expect(await lintSchema(client)).toEqual([]);
  });

  test.each([
    ['create table x (tenant_id bigint not null)', 'x: has no primary key'],
    ['create table x (id bigint primary key)', 'x: has no tenant_id and is not named in placement.ts'],
    [
      'create table x (tenant_id bigint, id bigint unique, primary key (tenant_id, id))',
      'x: unique index x_id_key does not begin with tenant_id',
    ],
    [
      'create table x (tenant_id bigint, id bigint, primary key (id, tenant_id))',
      'x: unique index x_pkey does not begin with tenant_id',
    ],
    [
      'create table x (tenant_id bigint, repo bigint, own bigint, primary key (tenant_id, repo), foreign key (own, repo) references repos)',
      'x: foreign key x_own_repo_fkey does not pair tenant_id with tenant_id first',
    ],
    [
      'create table x (tenant_id bigint primary key, d text references webhook_deliveries)',
      'x: foreign key x_d_fkey leads from a distributed to a local table',
    ],
    [
      'create table x (tenant_id bigint primary key, repo bigint, foreign key (tenant_id, repo) references repos on delete set null (repo))',
      'x: foreign key x_tenant_id_repo_fkey sets columns to null or their default',
    ],
    [
      'create trigger t before update on issues for each row execute function suppress_redundant_updates_trigger()',
      'issues: has trigger t',
    ],
    [
      'create table x (tenant_id bigint, id bigint generated always as identity, primary key (tenant_id, id))',
      'x: id is an identity column',
    ],
    [
      'create function x() returns timestamptz language sql stable return now()',
      'function x(): the planner inlines it: write it in PL/pgSQL, or give it a SET clause',
    ],
    [
      'create index a_name_that_is_much_longer_than_it_has_to_be_and_gets_longer on cost_events (tenant_id, repo_id, created_at, issue_id)',
      'index cost_events_default_tenant_id_repo_id_created_at_issue_id_idx of a partition has a name of 61 characters, too long for the number of a shard',
    ],
    ['drop table worker_tokens', 'worker_tokens: is named in placement.ts, but there is no such table'],
  ])('%s', async (ddl, finding) => {
    await client.query('begin');
    await client.query('set local search_path to pipeline');
    await client.query(ddl);
    expect(await lintSchema(client)).toContain(finding);
    await client.query('rollback');
  });
});
