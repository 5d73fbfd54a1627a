/**
 * Ten issues on a repository as strict as real ones: required checks of which one fails first and one is slow, branches
 * up to date, a review by a person of the newest head, squash only. Services, workers, host and Postgres run as in
 * production.
 */
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sleep } from '@pipeline/runtime';
import { ensureTenant, insertWorkerToken } from '@pipeline/store';
import { testDatabase } from '@pipeline/testing';
import { until } from '@pipeline/testing/until';
import { type AgentWorker, startAgentWorker } from './replicas/agent-worker.ts';
import { BOT, type Host, SECRET, SLUG, startHost } from './replicas/host.ts';
import { type Service, startService } from './replicas/service.ts';

const ISSUES = 10;
const WITHIN_MS = 1_100_000;
const TOKEN = `wrk_at_${'a'.repeat(43)}`;
const CONFIG = `
agents: {}
repos: [{slug: ${SLUG}, vcs: sandbox, branch: main}]
pollIntervals: {sprintMaster: 2, monitor: 1}
checks: {pollSeconds: 5}
`;
const CI = [
  { name: 'build', outcome: 'first-fails' as const, log: 'error: line 1 is missing\n1 test failed\n' },
  { name: 'slow', seconds: 2 },
  // Not required, and red: it must not hold up a merge.
  { name: 'nightly', outcome: 'failure' as const },
];
const REQUIRED = ['build', 'slow'];
const PROTECTION = {
  required_status_checks: { strict: true, contexts: REQUIRED },
  enforce_admins: true,
  required_pull_request_reviews: { dismiss_stale_reviews: true, required_approving_review_count: 1 },
  restrictions: null,
  required_linear_history: true,
};

interface Pull {
  number: number;
  head: { sha: string; ref: string };
  merged_at: string | null;
  merge_commit_sha: string;
}
interface Review {
  user: { login: string };
  state: string;
  commit_id: string;
  submitted_at: string;
}

const folder = mkdtempSync(join(tmpdir(), 'strict-'));
const services: Service[] = [];
const over = new AbortController();
let host: Host;
let worker: AgentWorker | undefined;
let approving: Promise<void> = Promise.resolve();

afterAll(async () => {
  over.abort();
  await approving;
  await worker?.kill();
  await Promise.all(services.map((service) => service.kill()));
  await host?.stop();
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});
const database = testDatabase();

beforeAll(async () => {
  host = await startHost({ ci: CI, mergeMethods: ['squash'] });
  await host.api('PUT', `/repos/${SLUG}/branches/main/protection`, PROTECTION, 'acme');
  writeFileSync(join(folder, 'pipeline.yaml'), CONFIG);
  const tenantId = await ensureTenant(database.store.db, 'default');
  const tokenHash = createHash('sha256').update(TOKEN).digest('hex');
  await insertWorkerToken(database.store.db, { tenantId, name: 'agents', tokenHash, repoIds: null });
  const common = { DATABASE_URL: database.url, DATABASE_POOL_SIZE: '4' };
  const api = await startService('hosted-api', { ...common, GITHUB_WEBHOOK_SECRET: SECRET });
  services.push(api);
  host.hooks.push(api.url);
  const sandbox = { SANDBOX_URL: host.sandbox.url, SANDBOX_TOKEN: BOT.token };
  const monitor = { ...common, ...sandbox, PIPELINE_CONFIG: join(folder, 'pipeline.yaml') };
  services.push(await startService('monitor', monitor));
  const script = join(import.meta.dirname, 'fixtures/numbered-changes.ts');
  worker = startAgentWorker({ server: api.url, token: TOKEN, name: 'agents', script, folder });
  approving = approveNewHeads();
});

const pulls = (state: string) => host.api<Pull[]>('GET', `/repos/${SLUG}/pulls?state=${state}&per_page=100`);
const reviewsOf = (number: number) => host.api<Review[]>('GET', `/repos/${SLUG}/pulls/${number}/reviews`);

/** A person approves each head of each pull request once. */
async function approveNewHeads(): Promise<void> {
  const approved = new Set<string>();
  while (!over.signal.aborted) {
    for (const { number, head } of await pulls('open')) {
      if (approved.has(head.sha)) continue;
      approved.add(head.sha);
      const review = { event: 'APPROVE', commit_id: head.sha, body: 'Good.' };
      await host.api('POST', `/repos/${SLUG}/pulls/${number}/reviews`, review, 'ben');
    }
    await sleep(300, over.signal);
  }
}

const done = async (): Promise<number> =>
  (await database.db.selectFrom('issues').select('id').where('state', '=', 'done').execute()).length;

/** Everything that the host records about a merge shows that it was allowed. */
async function checkMerge({ number, head, merged_at: mergedAt }: Pull): Promise<void> {
  const runs = await host.api<{
    check_runs: { name: string; conclusion: string | null; completed_at: string | null }[];
  }>('GET', `/repos/${SLUG}/commits/${head.sha}/check-runs`);
  for (const name of REQUIRED) {
    const run = runs.check_runs.find((each) => each.name === name);
    expect({ number, name, conclusion: run?.conclusion }).toEqual({ number, name, conclusion: 'success' });
    expect(Date.parse(run?.completed_at ?? '')).toBeLessThanOrEqual(Date.parse(mergedAt ?? ''));
  }
  const approvals = (await reviewsOf(number)).filter(
    ({ state, commit_id: sha }) => state === 'APPROVED' && sha === head.sha,
  );
  expect({ number, approvedBy: approvals.map(({ user }) => user.login) }).toEqual({ number, approvedBy: ['ben'] });
  const known = await database.db
    .selectFrom('pull_requests')
    .select(['merged', 'approved_sha'])
    .where('number', '=', number)
    .executeTakeFirst();
  expect({ number, ...known }).toEqual({ number, merged: true, approved_sha: head.sha });
}

test('merges ten issues without help, none with a check that is not green or at a head that was not approved', async () => {
  for (let issue = 1; issue <= ISSUES; issue += 1) {
    const draft = { title: `Write the file of issue ${issue}`, labels: ['svc:enqueue'] };
    await host.api('POST', `/repos/${SLUG}/issues`, draft);
  }
  try {
    await until('all issues are done', async () => (await done()) === ISSUES, WITHIN_MS);
  } catch (error) {
    throw new Error(worker?.output().slice(-8_000), { cause: error });
  }
  const merged = (await pulls('closed')).filter(({ merged_at: at }) => at !== null);
  expect(merged).toHaveLength(ISSUES);
  for (const pull of merged) await checkMerge(pull);
  await host.git('fetch', '-q', 'origin');
  expect(await host.git('rev-list', '--count', 'origin/main')).toBe(`${ISSUES + 1}`);
  const failures = await database.db.selectFrom('dead_letters').select('error').execute();
  expect(failures).toEqual([]);
}, 1_200_000);
