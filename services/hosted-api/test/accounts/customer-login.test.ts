/** Logins of `pipeline`, the command line of customers, at two replicas of the real API. */
import { chmodSync, statSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { DEFAULT_SETTINGS } from '@pipeline/domain';
import { admin } from '@pipeline/engine';
import { liveConnectionsOf, revokeConnectionsOf } from '@pipeline/store';
import { until } from '@pipeline/testing';
import { decide, logIn, testOauth } from '../oauth/oauth-world.ts';
import { pipelineCommands } from './pipeline-command.ts';

const SECRET_ENV = 'CI_SECRET';

const world = testOauth();
const pipelineCommand = pipelineCommands();
const { database } = world.hosting;

const connectionsOf = ({ id }: { id: number }) => liveConnectionsOf(database.store.tenant, id);

describe('pipeline login', () => {
  test('stores tokens in a file of the user when the user allows it in the browser', async () => {
    const pipeline = pipelineCommand();
    const person = await world.person('acme');
    const { code, stdout, stderr } = await pipeline.login(world, person);
    expect([code, stdout]).toEqual([0, expect.stringContaining(`as ${person.email} (member of acme)`)]);
    expect(`${stdout}${stderr}`).not.toMatch(/mcp_[ar]t_/);
    expect(statSync(pipeline.file).mode & 0o777).toBe(0o600);
    expect(await connectionsOf(person)).toEqual([
      expect.objectContaining({ clientName: expect.stringMatching(/^pipeline on /) }),
    ]);
    expect(await pipeline.json('org')).toMatchObject({ viewer: { login: person.email }, org: { slug: 'acme' } });
  });

  test('ends the connection of the login that it replaces', async () => {
    const pipeline = pipelineCommand();
    const person = await world.person('acme');
    await pipeline.login(world, person);
    const [first] = await connectionsOf(person);
    await pipeline.login(world, person);
    const after = await connectionsOf(person);
    expect([after.length, after[0]?.id === first?.id]).toEqual([1, false]);
  });

  test('exits with 77 and stores nothing when the user refuses', async () => {
    const pipeline = pipelineCommand();
    const { code, stdout, stderr } = await pipeline.login(world, await world.person('acme'), 'deny');
    expect([code, stdout, stderr]).toEqual([77, '', expect.stringContaining('access_denied: the user refused')]);
    expect(() => pipeline.stored()).toThrow('ENOENT');
  });

  test('takes the address of a browser on another machine with --paste', async () => {
    const pipeline = pipelineCommand();
    const person = await world.person('acme');
    const command = pipeline.start('login', '--host', world.front.url, '--paste');
    await until('an address is shown', () => command.output.stderr.includes('Paste that address'));
    const browser = world.browser();
    await browser.open(/http:\S+/.exec(command.output.stderr)?.[0] ?? '');
    await logIn(browser, person);
    const redirect = await decide(browser, 'allow');
    command.stdin.end(`${redirect.href}\n`);
    expect((await command.ended).code).toBe(0);
    expect(await pipeline.json('org')).toMatchObject({ viewer: { login: person.email } });
  });

  test('refuses a pasted address that belongs to another request', async () => {
    const command = pipelineCommand().start('login', '--host', world.front.url, '--paste');
    command.stdin.end('http://127.0.0.1/callback?code=abc&state=other\n');
    const { code, stderr } = await command.ended;
    expect([code, stderr]).toEqual([1, expect.stringContaining('this is not the address')]);
  });

  test('exits with 69 when nothing answers at the address', async () => {
    const { code, stderr } = await pipelineCommand().run('login', '--host', 'http://127.0.0.1:1', '--json');
    expect([code, JSON.parse(stderr)]).toEqual([
      69,
      { error: { code: 'SERVICE_UNAVAILABLE', message: expect.stringContaining('http://127.0.0.1:1') } },
    ]);
  });

  test.each([
    [['login'], 'give the address of the service'],
    [['login', '--host', 'http://example.org'], '--host must be an https URL'],
    [['login', '--host', 'https://example.org', '--client-id', 'ci_1'], 'belong together'],
    [['login', '--host', 'https://example.org', '--port', 'x'], '--port must be a whole number'],
  ])('exits with 2 for %j', async (args, message) => {
    const { code, stderr } = await pipelineCommand().run(...args);
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
  });
});

describe('a stored login', () => {
  test('survives commands that refresh its token at the same time', async () => {
    const pipeline = pipelineCommand();
    const person = await world.person('acme');
    await pipeline.login(world, person);
    const before = pipeline.stored();
    before.logins[world.front.url].expiresAt = 0;
    pipeline.store(before);
    const ended = await Promise.all(Array.from({ length: 4 }, () => pipeline.run('org')));
    expect(ended.map(({ code, stderr }) => [code, stderr])).toEqual(ended.map(() => [0, '']));
    const [connection] = await connectionsOf(person);
    expect(connection).toBeDefined();
    const rotated = pipeline.stored().logins[world.front.url];
    expect(rotated.refreshToken).not.toBe(before.logins[world.front.url].refreshToken);
    const refreshes = database.db
      .selectFrom('oauth_tokens')
      .select('hash')
      .where('connection_id', '=', connection?.id ?? '')
      .where('kind', '=', 'RefreshToken');
    expect(await refreshes.execute()).toHaveLength(2);
  });

  test('is refreshed when the service refuses its access token', async () => {
    const pipeline = pipelineCommand();
    await pipeline.login(world, await world.person('acme'));
    const content = pipeline.stored();
    content.logins[world.front.url].accessToken = `mcp_at_${'x'.repeat(43)}`;
    pipeline.store(content);
    expect((await pipeline.run('org')).code).toBe(0);
  });

  test('is deleted, and the command exits with 77, when its connection has ended', async () => {
    const pipeline = pipelineCommand();
    const person = await world.person('acme');
    await pipeline.login(world, person);
    await revokeConnectionsOf(database.store.tenant, person.id, 'user');
    const { code, stderr } = await pipeline.run('org');
    expect([code, stderr]).toEqual([77, expect.stringContaining('run pipeline login')]);
    expect(pipeline.stored()).toMatchObject({ current: null, logins: {} });
  });

  test('is not used when other users can read it, or when the file is damaged', async () => {
    const pipeline = pipelineCommand();
    await pipeline.login(world, await world.person('acme'));
    chmodSync(pipeline.file, 0o644);
    expect(await pipeline.run('org')).toMatchObject({ code: 78, stderr: expect.stringContaining('chmod 600') });
    chmodSync(pipeline.file, 0o600);
    pipeline.store({ version: 1, current: 7 });
    expect(await pipeline.run('org')).toMatchObject({ code: 78, stderr: expect.stringContaining('is damaged') });
  });
});

describe('pipeline logout', () => {
  test('ends the connection and deletes the tokens', async () => {
    const pipeline = pipelineCommand();
    const person = await world.person('acme');
    await pipeline.login(world, person);
    const { accessToken } = pipeline.stored().logins[world.front.url];
    expect(await pipeline.json('logout')).toEqual({ host: world.front.url, connectionEnded: true });
    expect([await world.call(accessToken), await connectionsOf(person)]).toEqual([401, []]);
    expect(pipeline.stored()).toMatchObject({ current: null, logins: {} });
    expect((await pipeline.run('logout', '--host', world.front.url)).code).toBe(77);
  });

  test('with --keep-connection only deletes the tokens', async () => {
    const pipeline = pipelineCommand();
    const person = await world.person('acme');
    await pipeline.login(world, person);
    expect(await pipeline.json('logout', '--keep-connection')).toMatchObject({ connectionEnded: false });
    expect([await connectionsOf(person), pipeline.stored().logins]).toEqual([[expect.anything()], {}]);
  });
});

describe('client credentials', () => {
  const credentials = async () => {
    const { email } = await world.person('acme');
    const engine = {
      store: database.store,
      notify: () => undefined,
      settings: () => DEFAULT_SETTINGS,
      random: () => 0,
    };
    const created = { org: 'acme', email, name: 'CI', expires: '90d' };
    return admin.createCredentials({ engine, actor: 'root', reason: null }, created);
  };

  test('log in without a browser, and the secret is not stored', async () => {
    const { clientId, clientSecret } = await credentials();
    const pipeline = pipelineCommand({ [SECRET_ENV]: clientSecret, PIPELINE_URL: world.front.url });
    const login = ['login', '--client-id', clientId, '--client-secret-env', SECRET_ENV];
    expect(await pipeline.json(...login)).toMatchObject({ host: world.front.url, org: 'acme' });
    expect(JSON.stringify(pipeline.stored())).not.toContain(clientSecret);
    expect(await pipeline.json('repos')).toEqual({ items: [], total: 0 });
    expect(await pipeline.json('logout')).toMatchObject({ connectionEnded: false });
  });

  test('are refused with 77 when the secret is wrong or its variable is not set', async () => {
    const { clientId } = await credentials();
    const login = ['login', '--host', world.front.url, '--client-id', clientId, '--client-secret-env', SECRET_ENV];
    const wrong = await pipelineCommand({ [SECRET_ENV]: 'mcp_cs_wrong' }).run(...login);
    expect([wrong.code, wrong.stdout]).toEqual([77, '']);
    const missing = await pipelineCommand().run(...login);
    expect([missing.code, missing.stderr]).toEqual([77, expect.stringContaining(`${SECRET_ENV} is not set`)]);
  });
});
