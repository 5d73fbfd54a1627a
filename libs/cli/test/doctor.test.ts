import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type SandboxHost, startSandbox } from '@pipeline/sandbox-host';
import { testDatabase } from '@pipeline/testing';
import { cliOn } from './cli.ts';
import { addRepo } from './rows.ts';

const BOT = { login: 'pipeline-bot', token: 'bot-token-1', type: 'Bot' as const };
const SLUG = 'acme/shop';
const database = testDatabase();
/** Filled once the sandbox host is up: the command reads its environment when it runs. */
const env: Record<string, string> = {};
const cli = cliOn(() => database.url, env);
const withoutHost = cliOn(() => database.url);

let sandbox: SandboxHost;
let dataDir: string;
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'cli-sandbox-'));
  sandbox = await startSandbox({ dataDir, users: [BOT], repos: [{ slug: SLUG }] });
  Object.assign(env, { SANDBOX_URL: sandbox.url, SANDBOX_TOKEN: BOT.token });
  await addRepo(database, 'acme', SLUG);
});
afterAll(async () => {
  await sandbox.stop();
  await rm(dataDir, { recursive: true, force: true });
});

const protect = (requiredApprovals: number) =>
  sandbox.addRepo({ slug: SLUG, collaborators: { [BOT.login]: 'write' }, requiredApprovals });

test('doctor says that nothing is known when there are no credentials and the monitor has read nothing', async () => {
  const { code, stdout } = await withoutHost.run(['doctor', SLUG]);
  expect(code).toBe(0);
  expect(stdout).toContain('unknown  push-protection: no credentials for sandbox are set here');
});

test('doctor warns and ends with 1 when nothing restricts pushes to the default branch', async () => {
  await protect(0);
  const { code, stdout } = await cli.run(['doctor', SLUG]);
  expect(code).toBe(1);
  expect(stdout).toMatch(
    /^acme\/shop of acme\nWARNING {2}push-protection: pushes to main are not restricted: a develop token/,
  );
  const list = await cli.run(['repo', 'list']);
  expect(list.stdout).toMatch(/acme\/shop .* OPEN/);
});

test('doctor is content when the branch requires pull requests, and remembers it', async () => {
  await protect(1);
  const check = {
    check: 'push-protection',
    status: 'ok',
    message: expect.stringContaining('ruleset rule pull_request'),
  };
  expect(await cli.json(['doctor', SLUG])).toEqual({ org: 'acme', repo: SLUG, checks: [check] });
  const remembered = await withoutHost.run(['doctor', SLUG]);
  expect(remembered.stdout).toContain('ok  push-protection: pushes to main are restricted (as the monitor read it at');
});

test('doctor refuses a repo that the pipeline does not know', async () => {
  expect((await cli.refusal(['doctor', 'acme/none'])).code).toBe('NOT_FOUND');
});

test('enabling a repo shows the warning, and works when the host does not answer', async () => {
  await protect(0);
  const enable = ['repo', 'enable', SLUG];
  await cli.json(['repo', 'disable', SLUG]);
  const enabled = await cli.run(enable);
  expect(enabled.code).toBe(0);
  expect(enabled.stdout).toContain('warning: pushes to main are not restricted');
  sandbox.failNext({ match: { path: '/rules/' }, status: 401 });
  const failing = await cli.json<{ enabled: boolean; checks: { status: string }[] }>(enable);
  expect(failing).toMatchObject({ enabled: true, checks: [{ status: 'unknown' }] });
});
