/**
 * Measures what row-level security would cost the hosted API: its two hottest reads and its claim, on one database without
 * policies and on a copy of it with one on every table that has a tenant_id. The tenant of a statement is set by a
 * statement in front of it, in the same packet: connections are shared by tenants, so nothing cheaper is correct.
 *
 *   pnpm exec node bench/src/row-security-main.ts [rounds] [seconds]
 */
import { createHash, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { StopStack } from '@pipeline/runtime';
import {
  claimTasks,
  type Db,
  findOrgWithRepos,
  issuePage,
  type OrgScope,
  openStore,
  type PreparedStatement,
  prepared,
  type Store,
} from '@pipeline/store';
import { cpuOfTree } from '@pipeline/testing/process-cpu';
import { execute } from '@pipeline/testing/template';
import { sql } from 'kysely';
import pg from 'pg';
import { makeReadable } from './ours/readable.ts';
import { type BenchServer, startServer } from './runner/server.ts';
import { median } from './runner/verdict.ts';

const ISSUES = 100_000;
const LANES = 32;
const ROLE = 'pipeline_bench_rls';
const [ROUNDS = 15, SECONDS = 2] = process.argv.slice(2).map(Number);
const FOLDER = join(import.meta.dirname, '../.data');

interface Variant {
  name: string;
  store: Store;
  admin: pg.Pool;
  setsTenant: boolean;
}

interface Sample {
  perSecond: number;
  /** CPU microseconds of this process and of Postgres, an operation. */
  cpuUs: number;
}

interface Tenant {
  id: number;
  slugs: string[];
  repoIds: number[];
}

const setTenant: PreparedStatement<{ id: string }, unknown> = prepared(
  'set-tenant',
  (_db, p) => sql`select set_config('svc.tenant', ${p('id')}, false)`,
);

/** A statement of a tenant, with the setting in front of it where the variant needs one. */
async function asTenant<T>({ setsTenant }: Variant, db: Db, tenant: Tenant, run: () => Promise<T>): Promise<T> {
  if (!setsTenant) return run();
  const [, result] = await Promise.all([setTenant.all(db, { id: String(tenant.id) }), run()]);
  return result;
}

const scopeOf = ({ id }: Tenant) => ({ tenantId: id, repoIds: null }) as unknown as OrgScope;
const pick = <T>(list: readonly T[]): T => list[Math.floor(Math.random() * list.length)] as T;

type Operation = (variant: Variant, tenant: Tenant) => Promise<unknown>;

const smallRead: Operation = async (variant, tenant) => {
  const db = variant.store.quick.read;
  const { org } = await asTenant(variant, db, tenant, () => findOrgWithRepos(db, scopeOf(tenant)));
  if (org.id !== tenant.id) throw new Error('a wrong organisation');
};

const listRead: Operation = async (variant, tenant) => {
  const db = variant.store.quick.read;
  const query = { slug: pick(tenant.slugs), filter: 'open', limit: 50, offset: 0 } as const;
  const page = await asTenant(variant, db, tenant, () => issuePage(db, scopeOf(tenant), query));
  if (!page?.items.includes('"issueNumber"')) throw new Error('an empty page');
};

const claim: Operation = async (variant, tenant) => {
  const db = variant.store.quick.tenant;
  const tokenHash = createHash('sha256').update(randomUUID()).digest('hex');
  const order = {
    taskTypes: ['retrospect' as const],
    repoIds: null,
    leaseMs: 60_000,
    claimers: [{ workerId: 'w', tokenHash }],
  };
  const claims = await asTenant(variant, db, tenant, () => claimTasks(db, tenant.id, order));
  if (claims.length !== 1) throw new Error('nothing to claim: lower the seconds');
};

async function measure(
  variant: Variant,
  tenants: readonly Tenant[],
  operation: Operation,
  postmaster: number,
): Promise<Sample> {
  let operations = 0;
  const cpu = () => cpuOfTree(postmaster) + process.cpuUsage().user + process.cpuUsage().system;
  const [began, spent] = [performance.now(), cpu()];
  const until = began + SECONDS * 1_000;
  const lane = async () => {
    while (performance.now() < until) {
      await operation(variant, pick(tenants));
      operations += 1;
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  const seconds = (performance.now() - began) / 1_000;
  return { perSecond: operations / seconds, cpuUs: (cpu() - spent) / operations };
}

/** Enough tasks for one round of claims, the same in every variant. */
async function fillTasks({ admin }: Variant, tenants: readonly Tenant[]): Promise<void> {
  await admin.query('truncate tasks, runs, pipeline_events');
  for (const { id, repoIds } of tenants) {
    await admin.query(
      `insert into tasks (tenant_id, id, work_id, repo_id, task_type, priority, turn, max_attempts)
       select $1, u, u, ($2::bigint[])[1 + n % $3], 'retrospect', 1, n, 3
       from (select n, gen_random_uuid() as u from generate_series(0, $4) n) t`,
      [id, repoIds, repoIds.length, 1_000 * SECONDS],
    );
  }
  await admin.query('vacuum analyze tasks');
}

async function addPolicies(url: string): Promise<void> {
  await execute(
    url,
    `do $$ declare t text; begin
       for t in select c.relname from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'tenant_id'
         where c.relnamespace = 'pipeline'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition loop
         execute format('alter table pipeline.%I enable row level security', t);
         execute format('create policy tenant on pipeline.%I using (tenant_id = current_setting(''svc.tenant'')::bigint)', t);
       end loop;
     end $$`,
  );
}

async function openVariant(name: string, url: string, setsTenant: boolean, stack: StopStack): Promise<Variant> {
  const service = new URL(url);
  [service.username, service.password] = [ROLE, 'bench'];
  const onConnectionError = (error: Error) => console.error(String(error));
  const options = { applicationName: name, poolSize: 8, onConnectionError };
  const store = openStore({ databaseUrl: service.href, ...options });
  stack.add(name, () => store.close());
  const admin = new pg.Pool({ connectionString: url, max: 1, options: '-c search_path=pipeline,public' });
  stack.add(`${name} admin`, () => admin.end());
  return { name, store, admin, setsTenant };
}

async function prepare(
  server: BenchServer,
  stack: StopStack,
): Promise<{ plain: Variant; secured: Variant; tenants: Tenant[] }> {
  const making = new StopStack();
  const say = (line: string) => console.error(line);
  const bench = { server, stack: making, workDir: FOLDER, quick: true, say };
  const { url } = await makeReadable(bench, ISSUES);
  await making.stop();
  const admin = new pg.Client(url);
  await admin.connect();
  const { rows } = await admin.query<Tenant>(
    `select tenant_id::int as id, array_agg(owner || '/' || name) as slugs, array_agg(id::int) as "repoIds"
     from pipeline.repos group by 1`,
  );
  await admin.end();
  await execute(
    url,
    `do $$ begin create role ${ROLE} login password 'bench'; exception when duplicate_object then null; end $$`,
    `grant usage on schema pipeline to ${ROLE}`,
    `grant select, insert, update, delete on all tables in schema pipeline to ${ROLE}`,
    `grant usage on all sequences in schema pipeline to ${ROLE}`,
  );
  const copy = url.replace('bench_reads', 'bench_reads_rls');
  const maintenance = url.replace('bench_reads', 'postgres');
  await execute(
    maintenance,
    'drop database if exists bench_reads_rls with (force)',
    'create database bench_reads_rls template bench_reads',
  );
  await addPolicies(copy);
  const secured = await openVariant('policies', copy, true, stack);
  await requireIsolation(secured, rows);
  return { plain: await openVariant('plain', url, false, stack), secured, tenants: rows };
}

/** @throws Error when a tenant would see the rows of another, or its own not. */
async function requireIsolation(variant: Variant, [one, two]: readonly Tenant[]): Promise<void> {
  if (!one || !two) throw new Error('too few tenants');
  const db = variant.store.quick.read;
  const own = await asTenant(variant, db, one, () => findOrgWithRepos(db, scopeOf(one)));
  const other = await asTenant(variant, db, one, () => findOrgWithRepos(db, scopeOf(two)));
  if (own.repos.length === 0 || other.repos.length > 0) throw new Error('the policies do not isolate');
}

const percent = (ratio: number) => `${((ratio - 1) * 100).toFixed(1)} %`;

function report(title: string, rounds: readonly { plain: Sample; secured: Sample }[]): void {
  const quartiles = (values: readonly number[]) => {
    const sorted = [...values].sort((a, b) => a - b);
    return [sorted[Math.floor(sorted.length / 4)], sorted[Math.floor((sorted.length * 3) / 4)]].map((v) =>
      percent(v ?? 1),
    );
  };
  for (const [what, of] of [
    ['CPU', (s: Sample) => s.cpuUs],
    ['time', (s: Sample) => 1 / s.perSecond],
  ] as const) {
    const ratios = rounds.map(({ plain, secured }) => of(secured) / of(plain));
    console.log(`${title}: ${what} ${percent(median(ratios))} (quartiles ${quartiles(ratios).join(' to ')})`);
  }
  const at = (name: 'plain' | 'secured') => rounds.map((round) => round[name]);
  for (const name of ['plain', 'secured'] as const) {
    const [perSecond, cpuUs] = [at(name).map((s) => s.perSecond), at(name).map((s) => s.cpuUs)].map(median);
    console.log(`  ${name}: ${perSecond?.toFixed(0)} a second, ${cpuUs?.toFixed(0)} us CPU`);
  }
}

const stack = new StopStack();
const server = await startServer(join(FOLDER, 'row-security'));
try {
  const { plain, secured, tenants } = await prepare(server, stack);
  for (const [title, operation] of Object.entries({ 'small read': smallRead, 'list of 50': listRead, claim })) {
    const rounds: { plain: Sample; secured: Sample }[] = [];
    const sample = async (variant: Variant) => {
      if (operation === claim) await fillTasks(variant, tenants);
      return measure(variant, tenants, operation, server.pid);
    };
    for (const variant of [plain, secured]) await sample(variant);
    for (let round = 0; round < ROUNDS; round += 1) {
      // In turn, and who begins changes: what the machine does besides meets both.
      const first = round % 2 === 0 ? await sample(plain) : undefined;
      const second = await sample(secured);
      rounds.push({ plain: first ?? (await sample(plain)), secured: second });
    }
    report(title, rounds);
  }
} finally {
  await stack.stop();
  await server.stop();
}
