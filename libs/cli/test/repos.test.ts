import { expect, test } from '@jest/globals';
import { hashToken } from '@pipeline/engine';
import { silentLogger } from '@pipeline/runtime';
import { findWorkerScope, Notifications, recordTokenUse, repoById } from '@pipeline/store';
import { testDatabase } from '@pipeline/testing';
import { cliOn } from './cli.ts';
import { addRepo, deedsOn } from './rows.ts';

const database = testDatabase();
const cli = cliOn(() => database.url);

test('lists, enables and disables repos, and notifies pollers at once', async () => {
  const { tenantId, repo } = await addRepo(database, 'acme', 'Acme/Shop', false);
  const bell = new Notifications({ directUrl: database.url, applicationName: 'test', log: silentLogger });
  const notified: unknown[] = [];
  bell.start();
  await new Promise<void>((resolve) => {
    bell.on('svc_cache', (tenants) => {
      notified.push(tenants);
      resolve();
    });
  });
  const enable = ['repo', 'enable', 'acme/shop', '--as', 'olga', '--without-review-gate'];
  expect(await cli.refusal(enable.slice(0, -1))).toEqual({
    code: 'INVALID_INPUT',
    message: expect.stringMatching(/^Acme\/Shop is not enabled: no credentials for its host are set here/),
  });
  expect(await cli.json(enable)).toMatchObject({ repo: 'Acme/Shop', org: 'acme', enabled: true, changed: true });
  expect((await repoById(database.store.db, tenantId, repo.id)).enabled).toBe(true);
  expect(await cli.json(enable)).toMatchObject({ changed: false });
  expect(await cli.json(['repo', 'list', '--org', 'acme'])).toMatchObject([{ repo: 'Acme/Shop', enabled: true }]);
  expect(await cli.json(['repo', 'disable', 'acme/shop'])).toMatchObject({ enabled: false, changed: true });
  expect((await deedsOn(database, repo)).map(({ action }) => action)).toEqual(['repo-enable', 'repo-disable']);
  expect(notified).toContainEqual([tenantId]);
  expect((await cli.refusal(['repo', 'list', '--org', 'none'])).code).toBe('NOT_FOUND');
  await bell.close();
});

const scopeOf = (token: string) => findWorkerScope(database.store.db, hashToken(token));

test('worker tokens are made for an organisation or some of its repos, listed without their secret, and revoked', async () => {
  const { tenantId, repo } = await addRepo(database, 'beta', 'beta/api');
  await addRepo(database, 'beta', 'beta/off', false);
  const create = ['admin', 'worker-token', 'create', 'build', '--org', 'beta'];
  const printed = await cli.run(create);
  expect(printed.stdout).toMatch(/^wrk_at_[\w-]{43}\n$/);
  expect(await scopeOf(printed.stdout.trim())).toMatchObject({ tenantId, repoIds: null });
  const some = await cli.json<{ id: string; token: string }>([...create, '--repos', 'Beta/API']);
  expect(await scopeOf(some.token)).toMatchObject({ tenantId, repoIds: [repo.id] });
  for (const [repos, message] of [
    ['beta/off', 'beta has no enabled repo beta/off'],
    ['beta', 'repo must be owner/name, got "beta"'],
  ]) {
    expect((await cli.refusal([...create, '--repos', repos ?? ''])).message).toBe(message);
  }
  expect((await cli.refusal(['admin', 'worker-token', 'create', 'x', '--org', 'none'])).code).toBe('NOT_FOUND');

  const soon = await cli.json<{ token: string; expiresAt: string }>([...create, '--expires', '30d']);
  const inDays = (Date.parse(soon.expiresAt) - Date.now()) / 86_400_000;
  expect(inDays).toBeCloseTo(30, 2);
  expect(await scopeOf(soon.token)).toMatchObject({ tenantId });
  for (const [when, message] of [
    ['30', '--expires must be a duration such as 30d or 12h, or a date such as 2027-01-31, got "30"'],
    ['2020-01-31', '--expires must be in the future, got "2020-01-31"'],
    ['0d', '--expires must be in the future, got "0d"'],
  ]) {
    expect((await cli.refusal([...create, '--expires', when ?? ''])).message).toBe(message);
  }

  const list = ['admin', 'worker-token', 'list', '--org', 'beta'];
  const listed = await cli.run([...list, '--json']);
  expect(JSON.parse(listed.stdout)).toMatchObject([
    { repos: null, expiresAt: soon.expiresAt, lastUsedAt: null },
    { id: some.id, name: 'build', org: 'beta', repos: ['beta/api'], expiresAt: null, revokedAt: null },
    { repos: null },
  ]);
  expect(listed.stdout).not.toContain('wrk_at_');
  await recordTokenUse(database.store.db, some.id);
  const used = (await cli.json<{ id: string; lastUsedAt: string | null }[]>(list)).find(({ id }) => id === some.id);
  expect(Math.abs(Date.parse(used?.lastUsedAt ?? '') - Date.now())).toBeLessThan(60_000);

  expect(await cli.json(['admin', 'worker-token', 'revoke', some.id])).toEqual({ revoked: 1 });
  expect(await scopeOf(some.token)).toBeNull();
  expect((await cli.refusal(['admin', 'worker-token', 'revoke', some.id])).code).toBe('NOT_FOUND');
  const byName = ['admin', 'worker-token', 'revoke', '--name', 'build', '--org', 'beta'];
  expect(await cli.json(byName)).toEqual({ revoked: 2 });
  expect((await cli.refusal(byName)).message).toBe('tenant "beta" has no live worker token named "build"');
});
