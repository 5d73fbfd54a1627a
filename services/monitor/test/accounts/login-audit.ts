import { afterAll, afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { loginAudit } from '@pipeline/engine';
import { silentLogger } from '@pipeline/runtime';
import { auditEntries } from '@pipeline/store';
import { createAuthentication } from '../../src/auth/authentication.ts';
import { OLGA, serveApp } from '../support/served-app.ts';
import { database } from './database.ts';

describe('the audit of logins', () => {
  const basic = (username: string, password: string) => ({
    authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`,
  });

  let time = Date.parse('2026-03-01T12:00:00Z');
  const now = () => new Date(time);
  let isStoreReady = true;
  let served: Awaited<ReturnType<typeof serveApp>>;

  const audit = () =>
    loginAudit({
      store: database.store,
      ...({ service: 'monitor', storeReady: () => isStoreReady, log: silentLogger, now } as const),
    });
  const entries = async () => (await auditEntries(database.db, 1_000)).reverse();

  beforeEach(async () => {
    isStoreReady = true;
    await database.db.deleteFrom('audit_log').execute();
    const auth = createAuthentication({ logins: [OLGA], loginAttempts: 3, onLoginFailure: audit(), now });
    served = await serveApp({ auth, now });
  });
  afterEach(() => served.close());

  const login = (username: string, password: string) =>
    served.call('POST', '/api/auth/login', { body: { username, password } });
  const get = (username: string, password: string) =>
    served.call('GET', '/api/dead-letters', { headers: basic(username, password) });

  test('records failed logins of both kinds with the name, and the first refusal of a window', async () => {
    expect((await login('olga', 'secret-1')).status).toBe(401);
    expect((await get('olga', 'secret-2')).status).toBe(401);
    expect((await get(`\u202e\u0007eve ${'x'.repeat(300)}`, 'secret-3')).status).toBe(401);
    expect((await get('olga', 'secret-4')).status).toBe(401);
    for (let n = 0; n < 5; n += 1) expect((await get('olga', OLGA.password)).status).toBe(429);
    const all = await entries();
    expect(all.map(({ action, subject }) => [action, subject])).toEqual([
      ['login-failed', 'user olga'],
      ['login-failed', 'user olga'],
      ['login-failed', `user eve ${'x'.repeat(95)}…`],
      ['login-failed', 'user olga'],
      ['login-limited', 'user olga'],
    ]);
    expect(all[0]).toMatchObject({
      actor_type: 'system',
      actor_id: 'monitor',
      details: { address: '127.0.0.1' },
      reason: 'wrong name or password, from 127.0.0.1',
    });
    expect(JSON.stringify(all)).not.toContain('secret');
  });

  test('records nothing for logins that succeed and for requests without credentials', async () => {
    expect((await login('olga', OLGA.password)).status).toBe(200);
    expect((await get('olga', OLGA.password)).status).toBe(503);
    expect((await served.call('GET', '/api/dead-letters')).status).toBe(401);
    expect(await entries()).toEqual([]);
  });

  test('answers as always when the store is away or the entry cannot be written', async () => {
    isStoreReady = false;
    expect((await login('olga', 'wrong')).status).toBe(401);
    isStoreReady = true;
    const away = database.open({ databaseUrl: 'postgres://nobody@127.0.0.1:1/none' });
    const record = loginAudit({
      ...({ store: away, service: 'monitor', storeReady: () => true, log: silentLogger, now } as const),
    });
    await record({ kind: 'failed', name: 'olga', address: '::1' });
    await away.close();
    expect(await entries()).toEqual([]);
  });

  test('writes at most 300 entries in five minutes, however many addresses guess', async () => {
    const record = audit();
    const failure = { kind: 'failed', name: 'x', address: '203.0.113.1' } as const;
    for (let n = 0; n < 310; n += 1) await record(failure);
    expect(await entries()).toHaveLength(300);
    time += 300_000;
    await record(failure);
    expect(await entries()).toHaveLength(301);
  });

  afterAll(() => database.clear());
});
