import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type DoctorCheck, Settings, TASK_TYPES } from '@pipeline/domain';
import { admin, type Engine } from '@pipeline/engine';
import { type SandboxHost, startSandbox } from '@pipeline/sandbox-host';
import { insertDelivery, inTransaction, saveChecks, writeSettings } from '@pipeline/store';
import { testDatabase } from '@pipeline/testing';
import { serverClosedWithFile } from '@pipeline/testing/closing';
import { APP_KEY } from '@pipeline/testing/sandbox';
import { cliOn } from './cli.ts';
import { addRepo } from './rows.ts';

const BOT = { login: 'pipeline-bot', token: 'bot-token-1', type: 'Bot' as const };
const SLUG = 'acme/shop';
const APP = { slug: 'pipeline', publicKey: APP_KEY.publicKey, owners: ['acme'] };
const database = testDatabase();
/** Filled once the sandbox host is up: the command reads its environment when it runs. */
const env: Record<string, string> = {};
const appEnv: Record<string, string> = {};
const cli = cliOn(() => database.url, env);
const app = cliOn(() => database.url, appEnv);
const withoutHost = cliOn(() => database.url);

let sandbox: SandboxHost;
let dataDir: string;
let repo: Awaited<ReturnType<typeof addRepo>>['repo'];
/** Status with which the webhook's receiver responds. */
let received = 202;
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'cli-sandbox-'));
  sandbox = await startSandbox({
    dataDir,
    users: [BOT],
    repos: [{ slug: SLUG }, { slug: 'other/shop' }],
    retryDelaysMs: [],
    autoDeliver: false,
    apps: [
      { ...APP, id: 77 },
      { ...APP, id: 78, slug: 'weak', permissions: { issues: 'write', contents: 'read' } },
    ],
  });
  Object.assign(env, { SANDBOX_URL: sandbox.url, SANDBOX_TOKEN: BOT.token });
  Object.assign(appEnv, {
    SANDBOX_URL: sandbox.url,
    SANDBOX_APP_ID: '77',
    SANDBOX_APP_PRIVATE_KEY: APP_KEY.privateKey,
  });
  ({ repo } = await addRepo(database, 'acme', SLUG));
});
afterAll(async () => {
  await sandbox.stop();
  await rm(dataDir, { recursive: true, force: true });
});

type Role = 'admin' | 'write' | 'read';
const setUp = (more: { requiredApprovals?: number; role?: Role; mergeMethods?: ('merge' | 'squash')[] } = {}) => {
  const { role = 'write', ...settings } = more;
  return sandbox.addRepo({ slug: SLUG, collaborators: { [BOT.login]: role }, ...settings });
};

/** The result of one check of the repo. */
async function checkOf(name: string, on = cli, slug = SLUG): Promise<DoctorCheck | undefined> {
  const { stdout } = await on.run(['doctor', slug, '--json']);
  return (JSON.parse(stdout) as { checks: DoctorCheck[] }).checks.find(({ check }) => check === name);
}
const api = (path: string, body: object) =>
  fetch(`${sandbox.url}/repos/${SLUG}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${BOT.token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

test('reports host checks as unknown and runs the others when there are no credentials', async () => {
  const { stdout } = await withoutHost.run(['doctor', SLUG]);
  for (const check of ['credentials', 'permissions', 'webhook', 'required-checks', 'merge-method', 'labels'])
    expect(stdout).toContain(`unknown  ${check}: no credentials for sandbox are set here`);
  expect(stdout).toContain(
    'unknown  push-protection: no credentials for sandbox are set here, and the monitor has not',
  );
  expect(stdout).toContain('error  workers: no worker is online for any task type');
});

test('warns and exits with 1 when nothing restricts pushes to the default branch', async () => {
  await setUp();
  const { code, stdout } = await cli.run(['doctor', SLUG]);
  expect(code).toBe(1);
  expect(stdout).toMatch(/^acme\/shop of acme\n/);
  expect(stdout).toContain('WARNING  push-protection: pushes to main are not restricted: a develop token');
  const list = await cli.run(['repo', 'list']);
  expect(list.stdout).toMatch(/acme\/shop .* OPEN/);
});

test('reports and stores the protection when the branch requires pull requests', async () => {
  await setUp({ requiredApprovals: 1 });
  expect(await checkOf('push-protection')).toMatchObject({
    status: 'ok',
    message: expect.stringContaining('ruleset rule pull_request'),
  });
  expect(await checkOf('push-protection', withoutHost)).toMatchObject({
    status: 'ok',
    message: expect.stringContaining('as the monitor read it at'),
  });
});

test('rejects a repo that the pipeline does not know, and --org without a repo', async () => {
  expect((await cli.refusal(['doctor', 'acme/none'])).code).toBe('NOT_FOUND');
  expect((await cli.run(['doctor', '--org', 'acme'])).code).toBe(2);
});

test('distinguishes an app, a token and rejected credentials', async () => {
  await setUp();
  expect(await checkOf('credentials')).toMatchObject({
    status: 'warning',
    message: expect.stringMatching(/pipeline-bot/),
  });
  expect(await checkOf('credentials', app)).toMatchObject({
    status: 'ok',
    message: expect.stringContaining('GitHub App pipeline[bot]'),
  });
  const wrong = cliOn(() => database.url, { SANDBOX_URL: sandbox.url, SANDBOX_TOKEN: 'wrong-token' });
  expect(await checkOf('credentials', wrong)).toMatchObject({ status: 'error' });
  const incomplete = cliOn(() => database.url, { SANDBOX_URL: sandbox.url, SANDBOX_APP_ID: '77' });
  expect(await checkOf('credentials', incomplete)).toMatchObject({
    status: 'error',
    message: expect.stringContaining('SANDBOX_APP_PRIVATE_KEY: must be set'),
  });
  expect(await checkOf('permissions', wrong)).toMatchObject({
    status: 'unknown',
    message: expect.stringContaining('rejects'),
  });
});

test('names the missing permissions of an app and of a user', async () => {
  await setUp();
  expect(await checkOf('permissions')).toMatchObject({ status: 'ok' });
  await setUp({ role: 'read' });
  expect(await checkOf('permissions')).toMatchObject({
    status: 'error',
    message: expect.stringContaining('lacks the permission write'),
  });
  expect(await checkOf('permissions', app)).toMatchObject({ status: 'ok' });
  const weak = cliOn(() => database.url, { ...appEnv, SANDBOX_APP_ID: '78' });
  expect(await checkOf('permissions', weak)).toMatchObject({
    status: 'error',
    message: expect.stringContaining('contents: write, pull_requests: write, statuses: write'),
  });
  await addRepo(database, 'acme', 'other/shop', false);
  expect(await checkOf('permissions', app, 'other/shop')).toMatchObject({
    status: 'error',
    message: expect.stringContaining('not installed'),
  });
});

test('reports the webhook of the host, and its last delivery', async () => {
  await setUp();
  expect(await checkOf('webhook')).toMatchObject({
    status: 'unknown',
    message: expect.stringContaining('may not read'),
  });
  await setUp({ role: 'admin' });
  expect(await checkOf('webhook')).toMatchObject({ status: 'warning', message: expect.stringContaining('no webhook') });
  expect(await checkOf('webhook', app)).toMatchObject({ status: 'warning' });
  const url = await startReceiver();
  sandbox.addWebhook({ url: `${url}/hook?key=hidden`, secret: 'a secret' });
  expect(await checkOf('webhook')).toMatchObject({
    status: 'ok',
    message: `${url}/hook is active; nothing was delivered yet`,
  });
  received = 401;
  await sandbox.flushWebhooks();
  for (const on of [cli, app]) {
    expect(await checkOf('webhook', on)).toMatchObject({ status: 'error', message: expect.stringContaining('401') });
  }
  received = 202;
  await api('/issues', { title: 'One' });
  await sandbox.flushWebhooks();
  expect(await checkOf('webhook')).toMatchObject({ status: 'ok', message: expect.stringContaining('got 202') });
});

async function startReceiver(): Promise<string> {
  const server: Server = createServer((request, response) => {
    request.resume();
    response.writeHead(received).end();
  });
  serverClosedWithFile(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test('reports the age of the last delivery in the inbox', async () => {
  expect(await checkOf('webhook-deliveries')).toMatchObject({ status: 'warning' });
  const delivery = { event: 'issues', events: [] };
  await insertDelivery(database.db, { ...delivery, id: 'd0', lane: 'acme/shop2#1' });
  expect(await checkOf('webhook-deliveries')).toMatchObject({ status: 'warning' });
  await insertDelivery(database.db, { ...delivery, id: 'd1', lane: 'acme/shop#1' });
  expect(await checkOf('webhook-deliveries')).toMatchObject({ status: 'ok', message: expect.stringMatching(/s ago$/) });
});

test('warns when no check was reported, and is ok when one was', async () => {
  await setUp();
  expect(await checkOf('required-checks')).toMatchObject({ status: 'warning' });
  const check = { kind: 'status', name: 'ci', state: 'success', conclusion: null, url: null, hostId: 1 } as const;
  const key = { tenantId: repo.tenant_id, repoId: repo.id, sha: 'a'.repeat(40) };
  await inTransaction(database.db, (tx) => saveChecks(tx, key, [{ ...check, at: new Date().toISOString() }]));
  expect(await checkOf('required-checks')).toMatchObject({ status: 'ok', message: expect.stringContaining('ci') });
});

test('warns when the host forbids the configured way of merging', async () => {
  await setUp();
  expect(await checkOf('merge-method')).toMatchObject({ status: 'ok' });
  await setUp({ mergeMethods: ['merge'] });
  expect(await checkOf('merge-method')).toMatchObject({ status: 'warning' });
});

test('warns when labels are missing, and is ok when they exist', async () => {
  await setUp();
  expect(await checkOf('labels')).toMatchObject({ status: 'warning' });
  for (const name of ['svc:enqueue', 'svc:urgent']) await api('/labels', { name });
  expect(await checkOf('labels')).toMatchObject({ status: 'ok' });
  expect(await checkOf('labels', app)).toMatchObject({ status: 'ok' });
});

test('counts the workers that are online and serve the repo', async () => {
  const worker = (name: string, more: object) => ({
    tenant_id: repo.tenant_id,
    id: name,
    name,
    hostname: 'h',
    version: '1',
    labels: '{}',
    status: 'idle',
    repos: [],
    task_types: [...TASK_TYPES],
    registered_at: new Date().toISOString(),
    ...more,
  });
  await database.db
    .insertInto('workers')
    .values([worker('away', { status: 'offline' }), worker('other', { repos: ['acme/other'] })] as never)
    .execute();
  expect(await checkOf('workers')).toMatchObject({ status: 'error' });
  await database.db
    .insertInto('workers')
    .values([worker('here', { repos: ['Acme/Shop'] })] as never)
    .execute();
  expect(await checkOf('workers')).toMatchObject({ status: 'ok', message: expect.stringContaining('develop 1') });
});

test('checks the service and every enabled repo when no repo is named', async () => {
  const { code, stdout } = await cli.run(['doctor']);
  expect(code).toBe(1);
  expect(stdout).toMatch(/^service\nok {2}database: PostgreSQL \d+/);
  expect(stdout).toContain('ok  database-clock');
  expect(stdout).toMatch(/disk: /);
  expect(stdout).toContain('WARNING  budget: spending is not limited');
  expect(stdout).toContain('\n\nacme/shop of acme\n');
  expect(stdout).not.toContain('other/shop');
  await writeSettings(database.db, Settings.parse({ costLimits: { dailyUsd: 20 } }));
  expect((await cli.run(['doctor'])).stdout).toContain('ok  budget: 20 USD per day');
});

test('reports the difference of the clocks of this machine, the host and the database', async () => {
  const context = {
    hostOf: async () => null,
    diagnosticsOf: async () => null,
    now: () => new Date(Date.now() - 20_000),
    deadline: <T>(work: Promise<T>) => work,
  };
  const by = { engine: { store: database.store } as Engine, actor: 'test', reason: null };
  const service = await admin.examineService(by, context);
  expect(service.find(({ check }) => check === 'database-clock')).toMatchObject({
    status: 'warning',
    message: expect.stringContaining('20 s behind'),
  });
  const identity = { kind: 'token', login: 'anna', at: new Date().toISOString() } as const;
  const diagnosticsOf = async () => ({ identity: async () => identity }) as never;
  const { checks } = await admin.examineRepo(by, { ...context, slug: SLUG, org: null, diagnosticsOf });
  expect(checks.find(({ check }) => check === 'host-clock')).toMatchObject({ status: 'warning' });
  expect(await checkOf('host-clock')).toMatchObject({ status: 'ok' });
});

test('reports one check as unknown and the others as usual when a request fails', async () => {
  sandbox.failNext({ match: { path: '/labels' }, status: 401 });
  expect(await checkOf('labels')).toMatchObject({ status: 'unknown' });
  expect(await checkOf('merge-method')).toMatchObject({ check: 'merge-method' });
});

test('enables no repo whose branch does not require the review, or cannot be read, unless told to', async () => {
  await setUp();
  const enable = ['repo', 'enable', SLUG];
  const isEnabled = async () => (await cli.json<{ enabled: boolean }[]>(['repo', 'list', '--org', 'acme']))[0]?.enabled;
  await cli.json(['repo', 'disable', SLUG]);
  expect((await cli.refusal(enable)).message).toContain('the branch does not require svc/review');
  sandbox.failNext({ match: { path: '/rules/' }, status: 401 });
  expect((await cli.refusal(enable)).message).toContain('the host did not respond');
  expect(await isEnabled()).toBe(false);
  const { stdout } = await cli.run([...enable, '--without-review-gate']);
  expect(stdout).toContain('warning: pushes to main are not restricted');
  expect(stdout).toContain('error: the branch does not require svc/review');
  expect(await isEnabled()).toBe(true);
});
