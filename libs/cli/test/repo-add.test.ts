import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type SandboxHost, startSandbox } from '@pipeline/sandbox-host';
import { testDatabase } from '@pipeline/testing';
import { cliOn } from './cli.ts';

const BOT = { login: 'pipeline-bot', token: 'bot-token-1', type: 'Bot' as const };
const READER = { login: 'reader', token: 'reader-token-1' };
const WITHOUT_GATE = '--without-review-gate';
const database = testDatabase();
const env: Record<string, string> = {};
const cli = cliOn(() => database.url, env);
const withoutHost = cliOn(() => database.url);

let sandbox: SandboxHost;
let dataDir: string;
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'cli-sandbox-'));
  sandbox = await startSandbox({
    dataDir,
    users: [BOT, READER],
    repos: [{ slug: 'acme/shop', collaborators: { [BOT.login]: 'write' } }, { slug: 'acme/docs' }],
  });
  Object.assign(env, { SANDBOX_URL: sandbox.url, SANDBOX_TOKEN: BOT.token });
});
afterAll(async () => {
  await sandbox.stop();
  await rm(dataDir, { recursive: true, force: true });
});

const labels = async () => {
  const headers = { authorization: `Bearer ${BOT.token}` };
  const response = await fetch(`${sandbox.url}/repos/acme/shop/labels`, { headers });
  return ((await response.json()) as { name: string; description: string }[]).map(({ name }) => name).sort();
};

test('adds a repo to a new database, with warnings of its settings on the host', async () => {
  expect((await cli.run(['repo', 'list'])).stdout).toContain('no repos; pipeline repo add owner/name adds one');
  expect(await cli.refusal(['repo', 'add', 'Acme/Shop'])).toEqual({
    code: 'INVALID_INPUT',
    message: expect.stringMatching(/^acme\/shop is not enabled: the branch does not require svc\/review/),
  });
  const { code, stdout } = await cli.run(['repo', 'add', 'Acme/Shop', '--pool-size', '2', WITHOUT_GATE]);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^acme\/shop of default is added: enabled, branch main\nwarning: pushes to main are not/);
  expect(await cli.json(['repo', 'list'])).toMatchObject([{ repo: 'acme/shop', enabled: true, poolSize: 2 }]);
  const moved = await cli.refusal(['repo', 'add', 'acme/shop', '--branch', 'dev']);
  expect(moved.message).toMatch(/^acme\/shop is not enabled: .*Branch not found/);
  const again = await cli.json(['repo', 'add', 'acme/shop', '--pool-size', 'none', '--checks', 'none']);
  expect(again).toMatchObject({ added: false, poolSize: null, checkPolicy: 'none', mergeMethod: 'squash' });
  const train = await cli.json(['repo', 'add', 'acme/shop', '--merge-train', 'serial']);
  expect([again, train]).toMatchObject([{ mergeTrain: 'off' }, { mergeTrain: 'serial' }]);
  const command = await cli.json(['repo', 'add', 'acme/shop', '--setup-command', 'make']);
  expect(command).toMatchObject({ setupCommand: 'make', checkPolicy: 'none', mergeTrain: 'serial' });
  const compared = await cli.json(['repo', 'add', 'acme/shop', '--compare', 'develop=claude:50,codex:50 plan=a:1,b:2']);
  const compare = { develop: { claude: 50, codex: 50 }, plan: { a: 1, b: 2 } };
  const ended = await cli.json(['repo', 'add', 'acme/shop', '--compare', 'none']);
  expect([command, compared, ended]).toMatchObject([{ compare: null }, { compare }, { compare: null }]);
});

test('creates the labels that people set when the identity may, and adds the repo when it may not', async () => {
  expect(await labels()).toEqual(['svc:enqueue', 'svc:urgent']);
  const reader = cliOn(() => database.url, { SANDBOX_URL: sandbox.url, SANDBOX_TOKEN: READER.token });
  expect(await reader.json(['repo', 'add', 'acme/docs', WITHOUT_GATE])).toMatchObject({
    repo: 'acme/docs',
    added: true,
  });
  expect((await reader.run(['repo', 'remove', 'acme/docs'])).code).toBe(0);
});

test('needs the branch when no credentials are set', async () => {
  const refused = await withoutHost.refusal(['repo', 'add', 'acme/api']);
  expect(refused).toEqual({
    code: 'INVALID_INPUT',
    message: expect.stringContaining('register a GitHub App with pipeline init, set GITHUB_TOKEN, or name'),
  });
  const added = await withoutHost.json(['repo', 'add', 'acme/api', '--branch', 'trunk', '--disabled']);
  expect(added).toMatchObject({ repo: 'acme/api', host: 'github', branch: 'trunk', enabled: false, checks: [] });
});

test.each([
  [['repo', 'add', 'acme/shop', '--host', 'gitlab'], '--host must be one of github, sandbox, got "gitlab"'],
  [['repo', 'add', 'acme/shop', '--checks', 'some'], '--checks must be one of required, all, none, got "some"'],
  [['repo', 'add', 'acme/shop', '--merge-train', 'on'], '--merge-train must be one of off, serial, got "on"'],
  [
    ['repo', 'add', 'acme/shop', '--compare', 'develop=claude:0,codex:1'],
    'develop claude must be a whole number from 1',
  ],
  [['repo', 'add', 'acme/shop', '--compare', 'develop=claude,codex'], 'develop claude must be a whole number from 1'],
  [['repo', 'add', 'acme/shop', '--compare', 'merge=a:1,b:1'], 'types are analyze, plan, develop, review'],
  [['repo', 'add', 'acme/shop', '--compare', 'plan=a:1,b:1 plan=a:1,b:1'], 'a task type is given twice'],
  [['repo', 'add', 'acme/shop', '--compare', ''], '--compare must be none or like develop=claude:50,codex:50'],
  [['repo', 'add', 'acme/shop', '--pool-size', '1e3'], '--pool-size must be 1 to 1000, or none, got "1e3"'],
])('refuses %j as wrong usage', async (args, message) => {
  const { code, stderr } = await cli.run(args);
  expect(code).toBe(2);
  expect(stderr).toContain(message);
});

test('removes a repo from the list, once', async () => {
  expect((await cli.run(['repo', 'remove', 'acme/api'])).stdout).toBe('acme/api of default is removed\n');
  expect((await cli.refusal(['repo', 'remove', 'acme/api'])).code).toBe('NOT_FOUND');
  expect(await cli.json(['repo', 'list'])).toMatchObject([{ repo: 'acme/shop' }]);
});
