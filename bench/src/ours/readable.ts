import { createHash, randomBytes } from 'node:crypto';
import {
  aggregateIssueCounts,
  ensureTenant,
  insertConnection,
  insertToken,
  insertUser,
  inTransaction,
  openStore,
  refreshIssueList,
  type Store,
  upsertRepo,
} from '@pipeline/store';
import pg from 'pg';
import type { Bench } from '../runner/model.ts';

const ORGS = 20;
const REPOS_OF_ORG = 10;
const CHUNK = 5_000;
const DAY_MS = 24 * 60 * 60_000;

/** Resource of the bearer tokens of a bench. */
export const PUBLIC_URL = 'http://127.0.0.1';

/** A repo with issues, and a token that reaches it. */
export interface ReadableRepo {
  tenantId: number;
  slug: string;
  token: string;
}

export interface Readable {
  url: string;
  repos: ReadableRepo[];
  issuesOfRepo: number;
}

/** Twenty organisations with ten repos each, all issues open and as the engine would show them; vacuumed, as in time. */
export async function makeReadable(bench: Bench, issues: number): Promise<Readable> {
  const url = await bench.server.pipelineDatabase('bench_reads');
  const onConnectionError = (error: Error) => bench.say(`connection to bench_reads: ${error.message}`);
  const store = openStore({ databaseUrl: url, applicationName: 'bench', poolSize: 4, onConnectionError });
  bench.stack.add('store bench_reads', () => store.close());
  const admin = new pg.Pool({ connectionString: url, max: 1, options: '-c search_path=pipeline,public' });
  bench.stack.add('admin connection bench_reads', () => admin.end());
  const issuesOfRepo = issues / ORGS / REPOS_OF_ORG;
  const repos: ReadableRepo[] = [];
  for (let org = 0; org < ORGS; org += 1) {
    const tenantId = await ensureTenant(store.db, `org-${org}`);
    const token = await mint(store, tenantId, org);
    for (let n = 0; n < REPOS_OF_ORG; n += 1) {
      const repoId = await makeRepo(store, tenantId, { owner: `org-${org}`, name: `repo-${n}` });
      repos.push({ tenantId, slug: `org-${org}/repo-${n}`, token });
      await fill(store, admin, { tenantId, repoId, issues: issuesOfRepo });
    }
  }
  await admin.query('vacuum analyze');
  return { url, repos, issuesOfRepo };
}

async function mint({ db }: Store, tenantId: number, org: number): Promise<string> {
  const email = `user-${org}@example.org`;
  const userId = await insertUser(db, { email, name: 'Bench', passwordHash: 'none', tenantId, role: 'owner' });
  const id = `conn_${randomBytes(16).toString('base64url')}`;
  const client = { clientId: 'dcr_bench', clientName: 'Bench', resource: `${PUBLIC_URL}/api`, scope: 'pipeline:read' };
  await insertConnection(db, { id, tenantId, userId, ...client, payload: {}, ttlMs: DAY_MS });
  const token = `mcp_at_${randomBytes(32).toString('base64url')}`;
  const hash = createHash('sha256').update(token).digest();
  await insertToken(db, { hash, kind: 'AccessToken', connectionId: id, payload: {}, ttlMs: DAY_MS });
  return token;
}

async function makeRepo(store: Store, tenantId: number, slug: { owner: string; name: string }): Promise<number> {
  const repo = { vcsHost: 'sandbox' as const, cloneUrl: '', defaultBranch: 'main', setupCommand: null, poolSize: null };
  const row = await inTransaction(store.db, (tx) =>
    upsertRepo(tx, tenantId, { slug, ...repo, installationId: null, enabled: true }),
  );
  return row.id;
}

interface Filling {
  tenantId: number;
  repoId: number;
  issues: number;
}

/** The rows past the engine, what lists show of them by its own statement. */
async function fill(store: Store, admin: pg.Pool, { tenantId, repoId, issues }: Filling): Promise<void> {
  const { rows } = await admin.query<{ id: number }>(
    `insert into issues (tenant_id, repo_id, issue_number, title, body, url, author, labels, state, state_entered_at,
       current_status, host_created_at, host_updated_at)
     select $1, $2, n, 'Issue ' || n || ' of a repo', '', 'http://127.0.0.1/' || n, 'ann', '{svc:planning,bug}', 'planning',
       now() - n * interval '1 minute', 'reading the code', now(), now()
     from generate_series(1, $3) n returning id::int`,
    [tenantId, repoId, issues],
  );
  for (let at = 0; at < rows.length; at += CHUNK) {
    const ids = rows.slice(at, at + CHUNK).map(({ id }) => id);
    await inTransaction(store.db, (tx) => refreshIssueList(tx, tenantId, ids, false));
  }
  await aggregateIssueCounts(store.db, tenantId, repoId);
}
