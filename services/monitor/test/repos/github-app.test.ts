import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { ProjectionAction } from '@pipeline/domain';
import { silentLogger } from '@pipeline/runtime';
import { type SandboxHost, startSandbox } from '@pipeline/sandbox-host';
import { connectHosts } from '../../src/hosts/hosts.ts';
import { WriteBudget } from '../../src/hosts/write-budget.ts';

const KEY = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
});
const REPO = { owner: 'acme', name: 'shop' };
const now = () => new Date();
const dataDir = mkdtempSync(join(tmpdir(), 'monitor-app-'));
let sandbox: SandboxHost;
beforeAll(async () => {
  sandbox = await startSandbox({
    dataDir,
    repos: [{ slug: 'acme/shop', private: true }],
    apps: [{ id: 5, slug: 'pipeline', publicKey: KEY.publicKey, owners: ['acme'] }],
  });
});
afterAll(async () => {
  await sandbox.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

test('acts as the app and spends no budget on its tokens when an app is configured', async () => {
  const budget = new WriteBudget(() => ({ perMinute: 80, perHour: 500 }), now);
  const access = { apiUrl: sandbox.url, appId: '5', privateKey: KEY.privateKey };
  const [host] = connectHosts({ access: { github: access }, budget, userAgent: 'test', log: silentLogger, now });
  expect(await host?.vcs.login()).toBe('pipeline[bot]');
  const created: ProjectionAction = {
    type: 'createIssue',
    title: 'Found',
    body: 'By the pipeline',
    labels: [],
    marker: 'm',
  };
  expect(await host?.vcs.getRepo(REPO)).toMatchObject({ private: true });
  expect(budget.left()).toBe(80);
  expect(await host?.vcs.execute(REPO, 0, created, { mayHaveHappened: false })).toMatchObject({ status: 'ok' });
  expect(budget.left()).toBe(79);
});
