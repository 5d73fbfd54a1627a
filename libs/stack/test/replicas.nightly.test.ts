import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sleep } from '@pipeline/runtime';
import { ensureTenant, insertWorkerToken } from '@pipeline/store';
import { testDatabase } from '@pipeline/testing';
import { breaches } from '../e2e/invariants.ts';
import { StoreView } from '../e2e/store-view.ts';
import { BOT, type Host, SECRET, SLUG, startHost } from './replicas/host.ts';
import { type Service, startService } from './replicas/service.ts';
import { RovingWorker } from './replicas/worker.ts';

const TOKEN = `wrk_at_${'t'.repeat(43)}`;
const CONFIG = `
agents: {}
repos: [{slug: ${SLUG}, vcs: sandbox, branch: main, checks: none}]
pollIntervals: {sprintMaster: 2, monitor: 1}
`;

const services: Service[] = [];
const stopping = new AbortController();
const folder = mkdtempSync(join(tmpdir(), 'replicas-config-'));
let host: Host | undefined;
afterAll(async () => {
  stopping.abort();
  await Promise.all(services.map((service) => service.kill()));
  await host?.stop();
  rmSync(folder, { recursive: true, force: true });
});
const database = testDatabase();

const start = async (name: 'hosted-api' | 'monitor', env: Record<string, string>): Promise<Service> => {
  const service = await startService(name, { DATABASE_URL: database.url, DATABASE_POOL_SIZE: '4', ...env });
  services.push(service);
  return service;
};

/** A claim whose answer dies with the API that made it comes back when its lease is over, after a minute. */
const LEASES_END_WITHIN_MS = 150_000;

async function until(what: string, holds: () => Promise<boolean> | boolean, withinMs = 60_000): Promise<void> {
  const end = performance.now() + withinMs;
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`did not come true: ${what}`);
    await sleep(50);
  }
}

const startApi = (env: Record<string, string> = {}) => start('hosted-api', { GITHUB_WEBHOOK_SECRET: SECRET, ...env });

const startMonitor = (sandboxUrl: string, env: Record<string, string> = {}) =>
  start('monitor', {
    ...env,
    PIPELINE_CONFIG: join(folder, 'pipeline.yaml'),
    SANDBOX_URL: sandboxUrl,
    SANDBOX_TOKEN: BOT.token,
  });

/** Numbers of the outbox entries that a monitor has carried out. */
const carriedOut = ({ lines }: Service): number[] =>
  lines.filter(({ msg }) => msg === 'projection completed').map(({ projectionId }) => projectionId as number);

async function call<T>(service: Service, method: string, path: string, body?: unknown): Promise<T> {
  const response = await fetch(service.url + path, {
    method,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as T;
}

interface Stage {
  host: Host;
  apis: Service[];
  monitors: [Service, Service];
  worker: RovingWorker;
  view: StoreView;
}
let stage: Stage | undefined;

/** The first monitor leads: it is there before the second one starts. */
beforeAll(async () => {
  host = await startHost();
  writeFileSync(join(folder, 'pipeline.yaml'), CONFIG);
  const tenantId = await ensureTenant(database.store.db, 'default');
  const tokenHash = createHash('sha256').update(TOKEN).digest('hex');
  await insertWorkerToken(database.store.db, { tenantId, name: 'rover', tokenHash, repoIds: null });
  const view = new StoreView(database.url);
  const apis = await Promise.all([startApi(), startApi()]);
  host.hooks.push(...apis.map(({ url }) => url));
  const first = await startMonitor(host.sandbox.url);
  await until('the repo is polled', async () => (await view.rows('select from repo_sync')).length > 0);
  const second = await startMonitor(host.sandbox.url);
  const urls = apis.map(({ url }) => url);
  const worker = new RovingWorker(urls, TOKEN, { push: host.push, signal: stopping.signal });
  await worker.register();
  stage = { host, apis, monitors: [first, second], worker, view };
});

const openIssue = async ({ api }: Host, title: string): Promise<number> =>
  (await api<{ number: number }>('POST', `/repos/${SLUG}/issues`, { title, labels: ['svc:enqueue'] })).number;

/** Works whatever comes until as many issues are done. */
const workUntilDone = ({ worker, view }: Stage, count: number): Promise<void> => {
  const isDone = async () => {
    await worker.work();
    return (await view.open()).done >= count;
  };
  return until(`${count} issues are done`, isDone, LEASES_END_WITHIN_MS);
};

test('two monitors and two hosted APIs on one database do everything once, also when the one that leads is killed', async () => {
  if (!stage) throw new Error('nothing was started');
  const { host, monitors, worker, view } = stage;
  const [first, second] = monitors;
  const one = await openIssue(host, 'First');
  const two = await openIssue(host, 'Second');
  await until('both are let in', async () => (await view.issues()).length === 2);

  // An action on one monitor affects both APIs and shows on the other monitor.
  await call(second, 'POST', `/api/workers/${worker.id}/drain`, { drain: true });
  expect([await worker.claim(), await worker.claim()]).toEqual([null, null]);
  await call(first, 'POST', `/api/workers/${worker.id}/drain`, { drain: false });
  await call(first, 'POST', `/api/issues/${SLUG}/${two}/pause`);
  await call(second, 'POST', `/api/issues/${SLUG}/${two}/resume`);

  // A pull request from a branch that is not there becomes a dead letter on both monitors; its retry ends it on both.
  const broken = await until('a develop task', async () => (await worker.work())?.taskType === 'plan').then(() =>
    worker.claim(5_000),
  );
  if (broken?.taskType !== 'develop') throw new Error(`not a develop task: ${broken?.taskType}`);
  const report = { headSha: 'abc1234', title: 'Done', body: '', changedFiles: [], branch: broken.payload.branch ?? '' };
  await worker.finish(broken, { outcome: 'submitted', result: report, artefacts: [], findings: [], invocations: [] });
  const openDeadLetters = async (monitor: Service) =>
    (await call<{ items: { id: string }[] }>(monitor, 'GET', '/api/dead-letters')).items;
  for (const monitor of monitors)
    await until('the dead letter shows', async () => (await openDeadLetters(monitor)).length === 1);
  worker.heads.set(broken.issueNumber ?? 0, await host.push(report.branch));
  await call(second, 'POST', `/api/dead-letters/${(await openDeadLetters(second))[0]?.id}/retry`);
  for (const monitor of monitors)
    await until('the dead letter is gone', async () => (await openDeadLetters(monitor)).length === 0);

  await workUntilDone(stage, 1);
  expect(carriedOut(first).length).toBeGreaterThan(0);
  expect(carriedOut(second)).toEqual([]);

  // The leader dies in the middle of its work; the other one takes the lead with what the first had begun.
  await openIssue(host, 'Third');
  await first.kill();
  await workUntilDone(stage, 3);
  expect(carriedOut(second).length).toBeGreaterThan(0);

  // The dead letter of above, resolved by its retry.
  await checkEnd(stage, ['dead_letters: 1']);
  expect(await view.rows('select from dead_letters where resolved_at is null')).toEqual([]);
  const sentTwice = carriedOut(second).filter((id) => carriedOut(first).includes(id));
  expect(sentTwice).toEqual([]);
  expect(one).toBeLessThan(two);
  stage.monitors[0] = await startMonitor(host.sandbox.url);
}, 900_000);

/** Everything is over, was done once, and the host shows it. */
async function checkEnd({ worker, view, host }: Stage, broken: string[]): Promise<void> {
  await until('no run is open', async () => (await worker.work(0)) === null);
  await until('the outbox is empty', async () => (await view.open()).projections === 0);
  expect(await breaches(view)).toEqual(broken);
  const issues = await view.issues();
  for (const { number } of issues) {
    const comments = await host.api<{ user: { login: string } }[]>('GET', `/repos/${SLUG}/issues/${number}/comments`);
    expect(comments.filter(({ user }) => user.login === BOT.login)).toHaveLength(1);
  }
  const pulls = await host.api<{ head: { ref: string } }[]>('GET', `/repos/${SLUG}/pulls?state=all&per_page=100`);
  expect(pulls.map(({ head }) => head.ref).sort()).toEqual([...new Set(pulls.map(({ head }) => head.ref))].sort());
  expect(pulls).toHaveLength(issues.length);
  expect(issues.map(({ labels }) => labels)).toEqual(issues.map(() => ['svc:done']));
}

test('whichever is killed with -9 while work goes on, every issue is done once', async () => {
  if (!stage) throw new Error('nothing was started');
  const { host, apis, monitors, view } = stage;
  const { done } = await view.open();
  for (const title of ['Fourth', 'Fifth', 'Sixth', 'Seventh']) await openIssue(host, title);
  const working = workUntilDone(stage, done + 4);
  for (const [at, kind] of (['hosted-api', 'monitor', 'hosted-api', 'monitor'] as const).entries()) {
    const [services, index]: [Service[], number] = [kind === 'monitor' ? monitors : apis, at >> 1];
    const victim = services[index];
    if (!victim) throw new Error(`there is no second ${kind}`);
    await sleep(400);
    await victim.kill();
    // Callers know its address.
    const PORT = new URL(victim.url).port;
    services[index] = kind === 'monitor' ? await startMonitor(host.sandbox.url, { PORT }) : await startApi({ PORT });
  }
  await working;
  await checkEnd(stage, ['dead_letters: 1']);
}, 900_000);
