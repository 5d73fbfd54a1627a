import { describe, expect, test } from '@jest/globals';
import { verifyPassword } from '@pipeline/engine';
import { insertConnection } from '@pipeline/store';
import { testDatabase } from '@pipeline/testing';
import { cliOn, runProcess } from './cli.ts';
import { addRepo } from './rows.ts';

const database = testDatabase();
const cli = cliOn(() => database.url);
const PASSWORD = 'correct horse battery';

const userRow = (email: string) =>
  database.db.selectFrom('users').selectAll().where('email_key', '=', email.toLowerCase()).executeTakeFirstOrThrow();
const sessionsOf = async (userId: number) =>
  (await database.db.selectFrom('user_sessions').select('hash').where('user_id', '=', userId).execute()).length;
const logIn = (userId: number) =>
  database.db
    .insertInto('user_sessions')
    .values({ hash: Buffer.from(`${userId}-${Math.random()}`), user_id: userId, expires_at: '2999-01-01T00:00:00Z' })
    .execute();

describe('organisations', () => {
  test('creates an organisation once, lists and shows it', async () => {
    expect(await cli.json(['admin', 'org', 'create', 'acme', '--name', 'Acme Inc.'])).toMatchObject({ id: 'acme' });
    expect(await cli.refusal(['admin', 'org', 'create', 'acme'])).toEqual({
      code: 'INVALID_INPUT',
      message: 'organisation acme already exists',
    });
    expect((await cli.refusal(['admin', 'org', 'create', 'Not An Id'])).message).toMatch(
      /^id must be at most 63 lower-case letters/,
    );
    expect(await cli.json(['admin', 'org', 'list'])).toEqual([
      { id: 'acme', name: 'Acme Inc.', createdAt: expect.any(String), members: 0, repos: 0, enabledRepos: 0 },
    ]);
    expect((await cli.run(['admin', 'org', 'list'])).stdout).toMatch(
      /^ID +NAME +MEMBERS .*\nacme +Acme Inc\. +0 +0\/0 /,
    );
    expect((await cli.refusal(['admin', 'org', 'show', 'nobody'])).code).toBe('NOT_FOUND');
  });
});

describe('invitations', () => {
  test('creates an invitation with a link that is shown once, lists and revokes it', async () => {
    await cli.json(['admin', 'org', 'create', 'guests', '--name', 'Guests']);
    const create = ['admin', 'invitation', 'create', 'guests', 'nora@example.org'];
    expect((await cli.refusal(create)).message).toMatch(/^--url must be the public address/);
    const made = await cli.json<{ id: string; link: string }>([...create, '--url', 'https://pipeline.example.com/']);
    expect(made).toMatchObject({ org: 'guests', email: 'nora@example.org', role: 'member' });
    expect(made.link).toMatch(/^https:\/\/pipeline\.example\.com\/account\/invitation\?token=[\w-]{43}$/);
    expect((await cli.run(['admin', 'invitation', 'list', 'guests'])).stdout).toMatch(
      /nora@example\.org +member +open/,
    );
    expect(JSON.stringify(await cli.json(['admin', 'invitation', 'list', 'guests']))).not.toContain(
      made.link.slice(-43),
    );
    await cli.json(['admin', 'invitation', 'revoke', 'guests', made.id]);
    expect((await cli.refusal(['admin', 'invitation', 'revoke', 'guests', made.id])).code).toBe('NOT_FOUND');
  });
});

describe('users', () => {
  test('get the password that came on standard input, and never show it', async () => {
    const create = ['admin', 'user', 'create', 'Anna@Example.org', '--name', 'Anna'];
    const made = await runProcess(create, database.url, `${PASSWORD}\n`);
    expect(made).toEqual({ code: 0, stdout: 'user Anna@Example.org created\n', stderr: '' });
    const { password_hash: hash } = await userRow('anna@example.org');
    expect(hash).toMatch(/^\$argon2id\$/);
    expect(await verifyPassword(PASSWORD, hash)).toBe(true);
    expect((await cli.refusal(['admin', 'user', 'create', 'anna@example.org'], PASSWORD)).message).toMatch(
      /already exists$/,
    );
  });

  test.each([
    ['', 'no password on standard input'],
    ['short\n', 'password must have 12 to 256 characters, got 5'],
  ])('refuses the password %j', async (stdin, message) => {
    expect(await cli.refusal(['admin', 'user', 'create', 'eve@example.org'], stdin)).toEqual({
      code: 'INVALID_INPUT',
      message,
    });
  });

  test('refuses an invalid email address', async () => {
    expect((await cli.refusal(['admin', 'user', 'create', 'anna', '--no-password'])).message).toMatch(
      /not an email address/,
    );
  });

  test('a new password and a disable end the sessions; enabling takes the disable back', async () => {
    await cli.json(['admin', 'user', 'create', 'bob@example.org', '--no-password']);
    const { id, password_hash } = await userRow('bob@example.org');
    expect(password_hash).toBeNull();
    await logIn(id);
    const set = ['admin', 'user', 'set-password', 'bob@example.org'];
    expect(await cli.json(set, PASSWORD)).toEqual({ email: 'bob@example.org', sessionsEnded: 1 });
    expect(await verifyPassword(PASSWORD, (await userRow('bob@example.org')).password_hash)).toBe(true);
    await logIn(id);
    const disable = ['admin', 'user', 'disable', 'BOB@example.org'];
    expect(await cli.json(disable)).toMatchObject({ disabled: true, changed: true, sessionsEnded: 1 });
    expect(await cli.json(disable)).toMatchObject({ changed: false });
    expect(await sessionsOf(id)).toBe(0);
    expect((await userRow('bob@example.org')).disabled_at).not.toBeNull();
    await cli.json(['admin', 'user', 'enable', 'bob@example.org']);
    expect((await userRow('bob@example.org')).disabled_at).toBeNull();
    expect(await cli.json(['admin', 'user', 'list'])).toContainEqual({
      email: 'bob@example.org',
      name: 'bob@example.org',
      disabled: false,
      hasPassword: true,
      roles: {},
      createdAt: expect.any(String),
    });
    expect((await cli.refusal([...set.slice(0, 3), 'who@example.org'], PASSWORD)).code).toBe('NOT_FOUND');
  });
});

describe('members and grants', () => {
  const member = (...args: string[]) => ['admin', 'member', ...args];

  test('a role is one of three, and the last owner stays', async () => {
    await cli.json(['admin', 'org', 'create', 'beta']);
    for (const name of ['olga', 'mia']) {
      await cli.json(['admin', 'user', 'create', `${name}@beta.org`, '--no-password']);
    }
    expect((await cli.refusal(member('add', 'beta', 'olga@beta.org', '--role', 'king'))).message).toBe(
      'role must be one of owner, admin, member, got "king"',
    );
    await cli.json(member('add', 'beta', 'olga@beta.org', '--role', 'owner'));
    expect((await cli.refusal(member('add', 'beta', 'olga@beta.org'))).message).toMatch(/is already a member of beta/);
    const last = 'olga@beta.org is the last owner of beta: add another owner first';
    expect((await cli.refusal(member('remove', 'beta', 'olga@beta.org'))).message).toBe(last);
    expect((await cli.refusal(member('role', 'beta', 'olga@beta.org', 'member'))).message).toBe(last);
    await cli.json(member('add', 'beta', 'mia@beta.org'));
    expect(await cli.json(member('role', 'beta', 'mia@beta.org', 'owner'))).toMatchObject({ changed: true });
    expect(await cli.json(member('remove', 'beta', 'olga@beta.org'))).toMatchObject({ removed: true });
    expect((await cli.refusal(member('remove', 'beta', 'olga@beta.org'))).code).toBe('NOT_FOUND');
  });

  test('a grant needs a member, is taken back, and goes with the membership', async () => {
    await addRepo(database, 'gamma', 'gamma/site');
    await cli.json(['admin', 'user', 'create', 'gina@gamma.org', '--no-password']);
    const grant = (verb: string) => ['admin', 'grant', verb, 'gina@gamma.org', 'Gamma/Site'];
    expect((await cli.refusal(grant('add'))).message).toMatch(/gina@gamma.org is not a member of gamma: .* first/);
    await cli.json(member('add', 'gamma', 'gina@gamma.org'));
    expect(await cli.json(grant('add'))).toMatchObject({ repo: 'gamma/site', granted: true, reachesAll: false });
    const list = ['admin', 'grant', 'list', 'gamma'];
    const shown = (repos: string[]) => [{ org: 'gamma', email: 'gina@gamma.org', role: 'member', repos }];
    expect(await cli.json(list)).toEqual(shown(['gamma/site']));
    expect(await cli.json(grant('remove'))).toMatchObject({ changed: true });
    expect(await cli.json(grant('remove'))).toMatchObject({ changed: false });
    expect(await cli.json(list)).toEqual(shown([]));
    await cli.json(grant('add'));
    await cli.json(member('remove', 'gamma', 'gina@gamma.org'));
    await cli.json(member('add', 'gamma', 'gina@gamma.org'));
    expect(await cli.json(list)).toEqual(shown([]));
  });
});

test('connections are listed and end one by one or all of a user', async () => {
  const { tenantId } = await addRepo(database, 'delta', 'delta/app');
  await cli.json(['admin', 'user', 'create', 'dora@delta.org', '--no-password']);
  await cli.json(['admin', 'member', 'add', 'delta', 'dora@delta.org']);
  const { id: userId } = await userRow('dora@delta.org');
  for (const id of ['conn_1', 'conn_2', 'conn_3']) {
    const client = { clientId: 'c', clientName: 'Editor', resource: 'https://x', scope: 'pipeline:read' };
    await insertConnection(database.store.db, { id, tenantId, userId, ...client, payload: {}, ttlMs: 60_000 });
  }
  const revoke = ['admin', 'connections', 'revoke'];
  expect(await cli.json([...revoke, 'conn_1'])).toEqual({ revoked: ['conn_1'] });
  expect((await cli.refusal([...revoke, 'conn_1'])).message).toBe('there is no live connection conn_1');
  const list = await cli.json<{ id: string; live: boolean }[]>(['admin', 'connections', 'list', '--org', 'delta']);
  expect(list.map(({ id, live }) => [id, live]).sort()).toEqual([
    ['conn_1', false],
    ['conn_2', true],
    ['conn_3', true],
  ]);
  const { revoked } = await cli.json<{ revoked: string[] }>([...revoke, '--user', 'dora@delta.org']);
  expect(revoked.sort()).toEqual(['conn_2', 'conn_3']);
});

test('client credentials are printed once, belong to a member, and end as any connection', async () => {
  await cli.json(['admin', 'org', 'create', 'omega']);
  await cli.json(['admin', 'user', 'create', 'olga@omega.org', '--no-password']);
  const create = ['admin', 'connections', 'create', 'nightly', '--org', 'omega', '--user', 'olga@omega.org'];
  expect((await cli.refusal(create)).message).toMatch(/olga@omega.org is not a member of omega/);
  await cli.json(['admin', 'member', 'add', 'omega', 'olga@omega.org']);
  const made = await cli.json<Record<string, string>>([...create, '--expires', '30d']);
  expect(made).toMatchObject({ clientId: expect.stringMatching(/^ci_[0-9a-f]{32}$/), name: 'nightly' });
  expect((await cli.run(create)).stdout).toMatch(
    /^client id +ci_\w+\nclient secret +mcp_cs_[\w-]{43}\nexpires +20\S+Z\n$/,
  );
  const everything = JSON.stringify(await database.db.selectFrom('oauth_clients').selectAll().execute());
  expect(everything).not.toContain(made.clientSecret);
  const list = await cli.json<{ id: string; client: string }[]>(['admin', 'connections', 'list', '--org', 'omega']);
  expect(list.map(({ client }) => client)).toEqual(['nightly', 'nightly']);
  await cli.json(['admin', 'connections', 'revoke', made.id ?? '']);
  const [latest, , first] = await cli.json<{ action: string; subject: string }[]>(['admin', 'audit', 'list']);
  expect([latest?.action, first?.action]).toEqual(['connection-revoke', 'connection-create']);
  expect(JSON.stringify(first)).not.toContain(made.clientSecret);
});

test('every action is in the log with actor and reason, and no password', async () => {
  await cli.json(['admin', 'user', 'create', 'zoe@example.org', '--as', 'root', '--reason', 'new hire'], PASSWORD);
  const [latest, ...older] = await cli.json<object[]>(['admin', 'audit', 'list', '--limit', '50']);
  expect(latest).toMatchObject({
    actorType: 'operator',
    actor: 'root',
    action: 'user-create',
    subject: 'user zoe@example.org',
    reason: 'new hire',
  });
  expect(older.length).toBeGreaterThan(5);
  expect(JSON.stringify([latest, ...older])).not.toContain(PASSWORD);
});

describe('linked accounts', () => {
  const issuer = 'https://login.example.org';
  const key = ['--issuer', issuer, '--subject', 'sub-1'];
  const identity = (verb: string, email: string, ...more: string[]) => ['admin', 'identity', verb, email, ...more];

  test('links an account to one user, lists it, and removes it with the sessions of the user', async () => {
    for (const name of ['ida', 'ivo']) {
      await cli.json(['admin', 'user', 'create', `${name}@example.org`, '--no-password']);
    }
    const linked = { email: 'ida@example.org', issuer, subject: 'sub-1' };
    const link = identity('link', 'Ida@example.org', ...key, '--name', 'ida-at-work', '--reason', 'new hire');
    expect(await cli.json(link)).toEqual({ ...linked, changed: true });
    expect(await cli.json(link)).toEqual({ ...linked, changed: false });
    expect((await cli.refusal(identity('link', 'ivo@example.org', ...key))).message).toBe(
      'this login is linked to another user; unlink it there first',
    );
    const listed = { ...linked, name: 'ida-at-work', createdAt: expect.any(String), lastLoginAt: null };
    expect(await cli.json(['admin', 'identity', 'list'])).toEqual([listed]);
    expect(await cli.json(['admin', 'identity', 'list', '--user', 'ida@example.org'])).toEqual([listed]);
    expect(await cli.json(['admin', 'identity', 'list', '--user', 'ivo@example.org'])).toEqual([]);
    const { id } = await userRow('ida@example.org');
    await logIn(id);
    expect((await cli.refusal(identity('unlink', 'ivo@example.org', ...key))).code).toBe('NOT_FOUND');
    expect(await cli.json(identity('unlink', 'ida@example.org', ...key))).toEqual({ ...linked, sessionsEnded: 1 });
    expect(await sessionsOf(id)).toBe(0);
    expect(await cli.json(['admin', 'identity', 'list'])).toEqual([]);
    const entries = await cli.json<object[]>(['admin', 'audit', 'list', '--limit', '2']);
    expect(entries).toMatchObject([
      { action: 'identity-unlink', subject: 'user ida@example.org' },
      { action: 'identity-link', subject: 'user ida@example.org', reason: 'new hire', details: { issuer } },
    ]);
  });

  test.each([
    ['an issuer that is no URL', 'login.example.org', 'sub-1'],
    ['an issuer that is too long', `https://${'x'.repeat(500)}`, 'sub-1'],
    ['an empty subject', issuer, ''],
    ['a subject with a space', issuer, 'a b'],
    ['a subject that is too long', issuer, 'x'.repeat(256)],
  ])('refuses linked accounts when the command names %s', async (_what, url, subject) => {
    await cli.run(['admin', 'user', 'create', 'ines@example.org', '--no-password']);
    const link = identity('link', 'ines@example.org', '--issuer', url, '--subject', subject);
    expect((await cli.refusal(link)).message).toMatch(/^the issuer must be a URL/);
  });

  test('refuses a link when the user has 20 already, or does not exist', async () => {
    await cli.json(['admin', 'user', 'create', 'iris@example.org', '--no-password']);
    const link = (n: number) => identity('link', 'iris@example.org', '--issuer', issuer, '--subject', `iris-${n}`);
    for (let n = 0; n < 20; n += 1) await cli.json(link(n));
    expect((await cli.refusal(link(20))).message).toMatch(/has 20 linked logins already/);
    expect((await cli.refusal(identity('link', 'who@example.org', ...key))).code).toBe('NOT_FOUND');
  });
});
