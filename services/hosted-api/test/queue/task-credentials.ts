import { execFile } from 'node:child_process';
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { actOnIssue, putRepo } from '@pipeline/engine';
import { createLogger } from '@pipeline/runtime';
import { type SandboxHost, startSandbox } from '@pipeline/sandbox-host';
import { ensureTenant, findIssue } from '@pipeline/store';
import { gitIssuers } from '../../src/repos/git-access.ts';
import { type Hosted, labelIssue, makeToken, register, type Tenant } from '../support/hosted.ts';
import { hosting } from './hosting.ts';

describe('credentials of tasks', () => {
  const { database } = hosting;
  const run = promisify(execFile);
  const pem = (bits = 2048) =>
    generateKeyPairSync('rsa', {
      modulusLength: bits,
      publicKeyEncoding: { type: 'spki', format: 'pem' },
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    });
  const KEY = pem();
  const now = () => new Date();

  const dir = mkdtempSync(join(tmpdir(), 'credentials-'));
  let sandbox: SandboxHost;
  let api: Hosted;
  let logged = '';

  beforeAll(async () => {
    sandbox = await startSandbox({
      dataDir: join(dir, 'sandbox'),
      repos: [{ slug: 'acme/shop', private: true }],
      apps: [{ id: 5, slug: 'pipeline', publicKey: KEY.publicKey, owners: ['acme'] }],
    });
    const stream = new PassThrough();
    stream.on('data', (chunk: Buffer) => {
      logged += chunk.toString();
    });
    const log = createLogger({ process: 'hosted-api', level: 'debug', stream });
    api = await hosting.start({ log, issuerOf: issuersWith(KEY.privateKey, log) });
  });
  afterAll(async () => {
    await sandbox.stop();
    rmSync(dir, { recursive: true, force: true });
  });

  const issuersWith = (key: string, log = createLogger({ process: 'test', stream: new PassThrough() })) =>
    gitIssuers([{ kind: 'sandbox', apiUrl: sandbox.url, id: '5', key }], { log, now });

  let tenants = 0;
  /** A tenant with that repo of the sandbox host, and a worker of it that holds the first task of an issue. */
  async function claimed(on: Hosted, slug = { owner: 'acme', name: 'shop' }) {
    tenants += 1;
    const id = await ensureTenant(database.owner.db, `credentials-${tenants}`);
    const repo = await putRepo(on.owner, id, {
      slug,
      vcsHost: 'sandbox',
      cloneUrl: `${sandbox.url}/${slug.owner}/${slug.name}.git`,
      defaultBranch: 'main',
      setupCommand: null,
      poolSize: null,
      installationId: null,
      enabled: true,
    });
    const tenant = { id, repo, token: await makeToken(database.owner, id, null) } as Tenant;
    await labelIssue(on, repo, 1);
    const workerId = await register(on, tenant.token);
    const claim = async (taskType: string) => {
      const request = { workerId, taskTypes: [taskType] };
      return (await on.post('/api/worker/claim', request, tenant)).body.task as { id: string; claimToken: string };
    };
    const say = (task: { id: string; claimToken: string }, action: string, more: object = {}) =>
      on.post(`/api/worker/tasks/${task.id}/${action}`, { claimToken: task.claimToken, ...more }, tenant);
    return { tenant, claim, say, task: await claim('analyze') };
  }

  const remote = (token: string) => `${sandbox.url.replace('//', `//x-access-token:${token}@`)}/acme/shop.git`;
  const git = (...args: string[]) =>
    run('git', ['-c', 'user.name=t', '-c', 'user.email=t@localhost', ...args], {
      cwd: dir,
      env: { ...process.env, GIT_TERMINAL_PROMPT: '0', GIT_CONFIG_NOSYSTEM: '1' },
    });

  describe('the holder of a claim', () => {
    test('gets a token that reads the repo of its task, and keeps no copy', async () => {
      const { say, task } = await claimed(api);
      const { status, body, headers } = await say(task, 'credentials');
      expect(status).toBe(200);
      expect(headers.get('cache-control')).toBe('no-store');
      expect(body).toMatchObject({
        repo: 'acme/shop',
        cloneUrl: `${sandbox.url}/acme/shop.git`,
        username: 'x-access-token',
        permissions: { contents: 'read' },
      });
      expect(Date.parse(body.expiresAt) - Date.now()).toBeGreaterThan(50 * 60_000);
      expect((await git('ls-remote', remote(body.token))).stdout).toContain('refs/heads/main');
      await git('clone', '-q', remote(body.token), 'reads');
      await expect(git('-C', 'reads', 'push', '-q', 'origin', 'main:work')).rejects.toThrow(/403/);
    });

    test('the holder of a develop task may push', async () => {
      const { claim, say, task } = await claimed(api);
      await say(task, 'complete', { outcome: 'analyzed', result: {} });
      await say(await claim('plan'), 'complete', { outcome: 'planned', result: { plan: 'Do it.', plannedFiles: [] } });
      const { body } = await say(await claim('develop'), 'credentials');
      expect(body.permissions.contents).toBe('write');
      await git('clone', '-q', remote(body.token), 'writes');
      await git('-C', 'writes', 'push', '-q', 'origin', 'HEAD:svc/issue-1');
      expect((await git('ls-remote', remote(body.token), 'svc/issue-1')).stdout).toContain('svc/issue-1');
    });

    test('finds neither token nor key in the log', async () => {
      const { say, task } = await claimed(api);
      const { body } = await say(task, 'credentials');
      expect(logged).toContain('git credentials given');
      expect(logged).not.toContain(body.token);
      expect(logged).not.toContain('PRIVATE KEY');
    });
  });

  describe('no credentials are given', () => {
    test('gives no credentials to a claim that is lost, unknown or withdrawn', async () => {
      const { tenant, say, task } = await claimed(api);
      const foreign = await say({ id: task.id, claimToken: randomUUID() }, 'credentials');
      expect([foreign.status, foreign.body.code]).toEqual([409, 'CLAIM_LOST']);
      database.clock.now = new Date(Date.now() + 61_000);
      const late = await say(task, 'credentials');
      database.clock.now = null;
      expect([late.status, late.body.code]).toEqual([409, 'CLAIM_LOST']);
      const issue = await findIssue(database.store.db, tenant.id, tenant.repo.id, 1);
      const actor = { type: 'operator', id: 'ann', agent: null } as const;
      await actOnIssue(api.owner, { tenantId: tenant.id, issueId: issue?.id ?? 0 }, 'cancel', actor);
      const withdrawn = await say(task, 'credentials');
      expect([withdrawn.status, withdrawn.body.code]).toEqual([410, 'TASK_CANCELLED']);
    });

    test('gives no credentials to the claim of another tenant', async () => {
      const [one, two] = [await claimed(api), await claimed(api)];
      const answer = await two.say(one.task, 'credentials');
      expect([answer.status, answer.body.code]).toEqual([409, 'CLAIM_LOST']);
    });

    test('gives no credentials where no app is configured', async () => {
      const { say, task } = await claimed(hosting.api);
      const { status, body } = await say(task, 'credentials');
      expect([status, body.code]).toEqual([404, 'CREDENTIALS_UNAVAILABLE']);
      expect(body.error).toContain('acme/shop');
    });

    test('gives no credentials where the app is not installed, or the host refuses its key', async () => {
      const elsewhere = await claimed(api, { owner: 'other', name: 'shop' });
      const missing = await elsewhere.say(elsewhere.task, 'credentials');
      expect([missing.status, missing.body.code]).toEqual([404, 'CREDENTIALS_UNAVAILABLE']);
      expect(missing.body.error).toContain('not installed');
      const wrong = await hosting.start({ issuerOf: issuersWith(pem().privateKey) });
      const { say, task } = await claimed(wrong);
      const refused = await say(task, 'credentials');
      expect([refused.status, refused.body.code]).toEqual([404, 'CREDENTIALS_UNAVAILABLE']);
      expect(refused.body.error).toContain('id and key');
    });

    test('while the host is away', async () => {
      sandbox.failNext({ status: 503, match: { path: '/installation' }, times: 3 });
      const fresh = await hosting.start({ issuerOf: issuersWith(KEY.privateKey) });
      const { say, task } = await claimed(fresh);
      const away = await say(task, 'credentials');
      expect([away.status, away.body.code]).toEqual([503, 'HOST_UNAVAILABLE']);
      expect((await say(task, 'credentials')).status).toBe(200);
    });
  });

  test('half of an app is refused at the start, by the name of the other half', () => {
    const log = createLogger({ process: 'test', stream: new PassThrough() });
    const made = (id: string | undefined, key: string | undefined) => () =>
      gitIssuers([{ kind: 'github', apiUrl: 'https://api.github.com', id, key }], { log, now });
    expect(made('5', undefined)).toThrow(/GITHUB_APP_PRIVATE_KEY: must be set/);
    expect(made(undefined, KEY.privateKey)).toThrow(/GITHUB_APP_ID: must be set/);
    expect(made(undefined, undefined)).not.toThrow();
  });
});
