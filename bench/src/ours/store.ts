import { ensureTenant, openStore, type Store, upsertRepo } from '@pipeline/store';
import pg from 'pg';
import type { Bench } from '../runner/model.ts';

/** A connection for each of the 16 lanes of a measurement. */
const POOL_SIZE = 16;
const REPOS = 200;

/** A database with the service's schema, one tenant and its 200 repos. */
export interface OurStore {
  store: Store;
  url: string;
  /** Process id of the postmaster. */
  pid: number;
  tenantId: number;
  repoIds: readonly number[];
  /** Pool for the statements of a benchmark, which the service never runs. */
  admin: pg.Pool;
  count(what: string): Promise<number>;
}

export async function openOurStore(bench: Bench, name: string): Promise<OurStore> {
  const url = await bench.server.pipelineDatabase(name);
  const store = openStore({
    databaseUrl: url,
    applicationName: 'bench',
    poolSize: POOL_SIZE,
    onConnectionError: (error) => bench.say(`connection to ${name}: ${error.message}`),
  });
  bench.stack.add(`store ${name}`, () => store.close());
  const admin = new pg.Pool({ connectionString: url, max: POOL_SIZE, options: '-c search_path=pipeline,public' });
  bench.stack.add(`admin connections ${name}`, () => admin.end());
  const tenantId = await ensureTenant(store.db, 'bench');
  await addClaimer(admin, tenantId);
  return {
    store,
    url,
    pid: bench.server.pid,
    tenantId,
    repoIds: await makeRepos(store, tenantId),
    admin,
    async count(what) {
      const { rows } = await admin.query<{ n: number }>(`select count(*)::int as n from ${what}`);
      return rows[0]?.n ?? 0;
    },
  };
}

/** The worker of the claims that are made without a registration. */
export const CLAIMER = 'bench';

/** Does nothing when it is known. */
export const addClaimer = (admin: pg.Pool, tenantId: number): Promise<unknown> =>
  admin.query(
    `insert into workers (tenant_id, id, name, hostname, version, status, registered_at, repos, task_types, labels)
     values ($1, $2, $2, 'h', '1', 'idle', now(), '{}', '{}', '{}') on conflict do nothing`,
    [tenantId, CLAIMER],
  );

async function makeRepos({ db }: Store, tenantId: number): Promise<number[]> {
  return db.transaction().execute(async (tx) => {
    const ids: number[] = [];
    for (let index = 0; index < REPOS; index += 1) {
      const row = await upsertRepo(tx, tenantId, {
        slug: { owner: 'bench', name: `repo-${index}` },
        vcsHost: 'sandbox',
        cloneUrl: `http://127.0.0.1/bench/repo-${index}.git`,
        defaultBranch: 'main',
        setupCommand: null,
        poolSize: null,
        installationId: null,
        enabled: true,
      });
      ids.push(row.id);
    }
    return ids;
  });
}
