/** An installation of the app is suspended or deleted while issues are in work, and comes back. */
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { Leader, runDetectors } from '@pipeline/engine';
import { createMetrics, silentLogger } from '@pipeline/runtime';
import { type SandboxHost, startSandbox } from '@pipeline/sandbox-host';
import type { Notifications } from '@pipeline/store';
import { importPKCS8, SignJWT } from 'jose';
import { connectHosts } from '../../src/hosts/hosts.ts';
import { WriteBudget } from '../../src/hosts/write-budget.ts';
import { createOutboxMetrics } from '../../src/outbox/metrics.ts';
import { ProjectionExecutor } from '../../src/outbox/projections.ts';
import { admit, type Bench, makeBench } from '../support/bench.ts';
import { connectedDoorbell } from '../support/sandbox-world.ts';
import { database } from './database.ts';

describe('an installation without access', () => {
  const KEY = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  const APP = { id: 5, slug: 'pipeline', publicKey: KEY.publicKey, owners: ['acme'] };
  const SLUG = 'acme/shop';
  const OWNER = { login: 'acme', token: 'acme-token-1' };
  const START = Date.parse('2026-03-01T00:00:00Z');

  let notifications: Notifications;
  let sandbox: SandboxHost;
  const dataDir = mkdtempSync(join(tmpdir(), 'no-access-'));
  afterAll(async () => {
    await notifications.close();
    await sandbox.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });
  let bench: Bench;
  let executor: ProjectionExecutor;
  let time = START;
  const now = () => new Date(time);
  const pass = (minutes: number) => {
    time += minutes * 60_000;
    database.clock.now = now();
  };

  beforeAll(async () => {
    pass(0);
    sandbox = await startSandbox({
      dataDir,
      users: [OWNER],
      repos: [{ slug: SLUG, private: true }],
      apps: [APP],
    });
    bench = await makeBench(database.store, SLUG);
    notifications = await connectedDoorbell(database.url);
    const access = { apiUrl: sandbox.url, appId: String(APP.id), privateKey: KEY.privateKey };
    const budget = new WriteBudget(() => ({ perMinute: 80, perHour: 500 }), now);
    const connected = { access: { sandbox: access }, budget, userAgent: 'test', log: silentLogger };
    // The app signs its requests with the time of the host.
    const [host] = connectHosts({ ...connected, now: () => new Date() });
    if (!host) throw new Error('no host');
    executor = new ProjectionExecutor({
      engine: bench.engine,
      host: host.vcs,
      leader: new Leader(notifications),
      budget: null,
      metrics: createOutboxMetrics(createMetrics().registry),
      log: silentLogger,
      now,
    });
  });

  let number = 0;
  beforeEach(async () => {
    number = (await onHost<{ number: number }>('POST', `/repos/${SLUG}/issues`, { title: 'Please' })).number;
    await admit(bench, number);
  });

  async function onHost<T>(method: string, path: string, body?: object, token = OWNER.token): Promise<T> {
    const response = await fetch(sandbox.url + path, {
      method,
      headers: { authorization: `Bearer ${token}` },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return (text === '' ? null : JSON.parse(text)) as T;
  }

  /** Sends a request of the app as itself. */
  async function asApp<T>(method: string, path: string): Promise<T> {
    const assertion = new SignJWT({}).setProtectedHeader({ alg: 'RS256' }).setIssuer(String(APP.id));
    const token = await assertion
      .setIssuedAt()
      .setExpirationTime('5m')
      .sign(await importPKCS8(KEY.privateKey, 'RS256'));
    return onHost(method, path, undefined, token);
  }
  const installation = async () => (await asApp<{ id: number }>('GET', `/repos/${SLUG}/installation`)).id;

  async function drain(): Promise<void> {
    do await executor.tick();
    while (await executor.landed());
  }

  const entries = () =>
    database.db
      .selectFrom('projections')
      .select(['status', 'attempts', 'error'])
      .where('issue_number', '=', number)
      .orderBy('id')
      .execute();
  const labels = async () =>
    (await onHost<{ labels: { name: string }[] }>('GET', `/repos/${SLUG}/issues/${number}`)).labels.map(
      ({ name }) => name,
    );
  const alerts = async () => {
    const failed = await runDetectors(
      bench.engine,
      { driftByRepo: null, limitedMinutes: new Map() },
      { refresh: true },
    );
    expect(failed).toEqual([]);
    return database.db
      .selectFrom('alerts')
      .select(['message', 'resolved_at'])
      .where('detector', '=', 'projection_backlog')
      .execute();
  };

  describe('host writes of a repo without access', () => {
    test('wait while the installation is suspended, are reported by an alert, and go on when it is not', async () => {
      const id = await installation();
      await asApp('PUT', `/app/installations/${id}/suspended`);
      for (let round = 0; round < 12; round += 1) {
        await drain();
        pass(3);
      }
      const waiting = await entries();
      expect(waiting.length).toBeGreaterThan(1);
      for (const entry of waiting)
        expect(entry).toMatchObject({ status: 'pending', attempts: 0, error: expect.stringContaining('suspended') });
      expect(await alerts()).toEqual([{ message: expect.stringMatching(/pending.*: .*suspended/), resolved_at: null }]);

      await asApp('DELETE', `/app/installations/${id}/suspended`);
      pass(3);
      await drain();
      expect((await entries()).map(({ status }) => status)).toEqual(waiting.map(() => 'complete'));
      expect(await labels()).toContain('svc:analyzing');
      expect(await alerts()).toMatchObject([{ resolved_at: expect.any(String) }]);
    });

    test('cost one attempt for all writes of the repo until the next look, not one for each issue', async () => {
      const id = await installation();
      await asApp('PUT', `/app/installations/${id}/suspended`);
      for (let more = 0; more < 20; more += 1) {
        const { number: other } = await onHost<{ number: number }>('POST', `/repos/${SLUG}/issues`, { title: 'More' });
        await admit(bench, other);
      }
      const refused = () =>
        database.db.selectFrom('projection_attempts').select('error').where('outcome', '=', 'no-access').execute();
      const before = (await refused()).length;
      await drain();
      await drain();
      // As many issues as are written at a time.
      expect((await refused()).length - before).toBeLessThanOrEqual(8);
      await asApp('DELETE', `/app/installations/${id}/suspended`);
      pass(3);
      await drain();
      expect((await entries()).every(({ status }) => status === 'complete')).toBe(true);
    });

    test('wait while the app is not installed', async () => {
      await asApp('DELETE', `/app/installations/${await installation()}`);
      await drain();
      for (const entry of await entries())
        expect(entry).toMatchObject({
          status: 'pending',
          attempts: 0,
          error: expect.stringContaining('not installed'),
        });
      sandbox.addApp(APP);
      pass(3);
      await drain();
      expect(new Set((await entries()).map(({ status }) => status))).toEqual(new Set(['complete']));
    });

    test('wait while the repository is archived', async () => {
      await onHost('PATCH', `/repos/${SLUG}`, { archived: true });
      await drain();
      for (const entry of await entries())
        expect(entry).toMatchObject({ status: 'pending', attempts: 0, error: expect.stringContaining('is archived') });
      await onHost('PATCH', `/repos/${SLUG}`, { archived: false });
      pass(3);
      await drain();
      expect(new Set((await entries()).map(({ status }) => status))).toEqual(new Set(['complete']));
    });

    test('gives writes up when the host refuses them for another reason', async () => {
      await drain();
      await database.db
        .updateTable('projections')
        .set({
          status: 'pending',
          action: { type: 'addLabels', labels: ['x'] } as never,
          issue_number: 999_999,
          issue_id: null,
        })
        .where('issue_number', '=', number)
        .execute();
      await drain();
      const lost = database.db
        .selectFrom('projections')
        .select(['status', 'error'])
        .where('issue_number', '=', 999_999);
      expect((await lost.execute())[0]).toMatchObject({ status: 'failed', error: expect.stringContaining('404') });
    });
  });

  afterAll(() => database.clear());
});
