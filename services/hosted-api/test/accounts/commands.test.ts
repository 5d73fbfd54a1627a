import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { DEFAULT_SETTINGS } from '@pipeline/domain';
import { admin } from '@pipeline/engine';
import { liveConnectionsOf, type RepoRow, revokeConnectionsOf } from '@pipeline/store';
import { until } from '@pipeline/testing';
import { decide, logIn, testOauth } from '../oauth/oauth-world.ts';
import { addRepo, labelIssue } from '../support/hosted.ts';
import { pipelineCommands } from './pipeline-command.ts';

const world = testOauth();

/** Logins of `pipeline`, the command line of customers, at two replicas of the real API. */
describe('logins of the command line', () => {
  const SECRET_ENV = 'CI_SECRET';

  const pipelineCommand = pipelineCommands();
  const { database } = world.hosting;

  const connectionsOf = ({ id }: { id: number }) => liveConnectionsOf(database.store.db, id);

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

    test('refreshes the login when the service refuses its access token', async () => {
      const pipeline = pipelineCommand();
      await pipeline.login(world, await world.person('acme'));
      const content = pipeline.stored();
      content.logins[world.front.url].accessToken = `mcp_at_${'x'.repeat(43)}`;
      pipeline.store(content);
      expect((await pipeline.run('org')).code).toBe(0);
    });

    test('deletes the login and exits with 77 when its connection has ended', async () => {
      const pipeline = pipelineCommand();
      const person = await world.person('acme');
      await pipeline.login(world, person);
      await revokeConnectionsOf(database.store.db, person.id, 'user');
      const { code, stderr } = await pipeline.run('org');
      expect([code, stderr]).toEqual([77, expect.stringContaining('run pipeline login')]);
      expect(pipeline.stored()).toMatchObject({ current: null, logins: {} });
    });

    test('ignores the login when other users can read it, or when the file is damaged', async () => {
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

    test('deletes only the tokens with --keep-connection', async () => {
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
        store: database.owner,
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

    test('exits with 77 when the secret is wrong or its variable is not set', async () => {
      const { clientId } = await credentials();
      const login = ['login', '--host', world.front.url, '--client-id', clientId, '--client-secret-env', SECRET_ENV];
      const wrong = await pipelineCommand({ [SECRET_ENV]: 'mcp_cs_wrong' }).run(...login);
      expect([wrong.code, wrong.stdout]).toEqual([77, '']);
      const missing = await pipelineCommand().run(...login);
      expect([missing.code, missing.stderr]).toEqual([77, expect.stringContaining(`${SECRET_ENV} is not set`)]);
    });
  });
});

describe('npm run connect', () => {
  const COMMAND = join(import.meta.dirname, '../../../../libs/stack/src/connect-main.ts');

  /** The command in a terminal of its own. */
  function run(...args: string[]) {
    const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', COMMAND, ...args], {
      env: { PATH: process.env.PATH },
    });
    const output = { out: '', err: '' };
    child.stdout.on('data', (text) => {
      output.out += text;
    });
    child.stderr.on('data', (text) => {
      output.err += text;
    });
    return { output, ended: once(child, 'close').then(([code]) => code as number) };
  }

  /** Opens the address that the command shows, and answers as a person. */
  async function answer({ output }: ReturnType<typeof run>, decision: 'allow' | 'deny') {
    await until('an address is shown', () => output.err.includes('/oauth/authorize?'));
    const browser = world.browser();
    await browser.open(/http:\S+/.exec(output.err)?.[0] ?? '');
    await logIn(browser, await world.person('acme'));
    await fetch(await decide(browser, decision));
  }

  test('`npm run connect` prints a token once a person has allowed it', async () => {
    const command = run(world.front.url);
    await answer(command, 'allow');
    expect(await command.ended).toBe(0);
    expect(command.output.out).toMatch(/^mcp_at_[\w-]{43}\n$/);
    expect(await world.call(command.output.out.trim())).toBe(200);
  });

  test('it prints why there is no token', async () => {
    const refused = run(world.front.url);
    await answer(refused, 'deny');
    expect([await refused.ended, refused.output.out]).toEqual([1, '']);
    expect(refused.output.err).toContain('access_denied: the user refused');
    const nobody = run('http://127.0.0.1:1');
    expect([await nobody.ended, nobody.output.err.includes('could not get a token: ')]).toEqual([1, true]);
    const wrong = run();
    expect([await wrong.ended, wrong.output.err.includes('usage:')]).toEqual([2, true]);
  });
});

/** The commands of customers that read, with a real login at the real API. */
describe('commands of customers', () => {
  const pipeline = pipelineCommands()();
  const { database } = world.hosting;
  const SLUG = 'acme/shop';
  let repo: RepoRow;

  beforeAll(async () => {
    const { api } = world.hosting;
    const person = await world.person('acme');
    await database.db.updateTable('memberships').set({ role: 'owner' }).where('user_id', '=', person.id).execute();
    repo = await addRepo(api, person.tenantIds[0] ?? 0, SLUG);
    await addRepo(api, person.tenantIds[0] ?? 0, 'acme/site');
    await labelIssue(api, repo, 1, { title: 'Red \u001b[31malert\u001b[0m \u202eevil\u009b2J' });
    await labelIssue(api, repo, 2, { title: 'x'.repeat(500) });
    const { code, stderr } = await pipeline.login(world, person);
    if (code !== 0) throw new Error(stderr);
  });

  describe('a command that reads', () => {
    test('repos lists the repositories up to the limit', async () => {
      expect(await pipeline.json('repos')).toMatchObject({ items: [{ slug: SLUG }, { slug: 'acme/site' }], total: 2 });
      const { stdout } = await pipeline.run('repos', '--limit', '1');
      expect(stdout).toContain('1 of 2; --limit shows more');
    });

    test('issues prints one bounded line for each issue, without the control characters of their titles', async () => {
      const { code, stdout } = await pipeline.run('issues', SLUG);
      expect(code).toBe(0);
      const [head, ...rows] = stdout.trimEnd().split('\n');
      expect([head?.split(/ +/)[0], rows.length]).toEqual(['ISSUE', 2]);
      expect(stdout).toContain('alert');
      expect(stdout).not.toMatch(/[^\P{Cc}\n]|\p{Cf}/u);
      expect(Math.max(...rows.map((row) => row.length))).toBeLessThan(200);
    });

    test('issues continues with --offset and escapes invisible characters in JSON', async () => {
      const first = await pipeline.run('issues', SLUG, '--limit', '1');
      expect(first.stdout).toContain('1 of 2; --offset 1 continues');
      const page = await pipeline.json('issues', SLUG, '--limit', '1', '--offset', '1');
      expect(page).toMatchObject({ items: [expect.anything()], page: { total: 2, offset: 1 } });
      const { stdout } = await pipeline.run('issues', SLUG, '--json');
      expect(stdout).not.toMatch(/[^\P{Cc}\n]|\p{Cf}/u);
      expect(JSON.parse(stdout).items[0].title).toContain('\u202e');
    });

    test('why explains an issue', async () => {
      expect(await pipeline.json('why', `${SLUG}#2`)).toMatchObject({ issueNumber: 2, state: 'analyzing' });
      const { stdout } = await pipeline.run('why', `${SLUG}#2`);
      expect(stdout).toContain('waits for a free worker');
    });

    test('overview and costs print the figures of a repository', async () => {
      expect(await pipeline.json('overview', SLUG)).toMatchObject({ openIssues: 2, queueDepth: { total: 2 } });
      expect((await pipeline.run('overview', SLUG)).stdout).toContain('2 open issues, 2 pending tasks');
      const costs = await pipeline.json('costs');
      expect(costs).toMatchObject({ lifetimeUsd: 0, byRepo: expect.anything() });
      expect((await pipeline.run('costs', SLUG)).stdout).toMatch(/^REPOSITORY .*\n(.*\n)*total +\$0\.00/);
    });

    test('mcp prints the address for a program', async () => {
      const { stdout } = await pipeline.run('mcp', 'claude-code');
      expect(stdout).toBe(`# claude-code: run\nclaude mcp add --transport http pipeline ${world.front.url}/api/mcp\n`);
      const { programs } = await pipeline.json('mcp');
      for (const { program, config } of programs) if (config.startsWith('{')) expect([program, JSON.parse(config)]);
      expect((await pipeline.run('mcp', 'emacs')).code).toBe(2);
    });

    test.each([
      [['issues', 'shop'], 2, 'owner/name'],
      [['why', SLUG], 2, 'owner/name#number'],
      [['issues', SLUG, '--limit', '501'], 2, '--limit must be a whole number from 1 to 500'],
      [['issues', SLUG, '--state', 'closed'], 1, 'state'],
      [['issues', 'no/such'], 1, 'The repo is not enabled'],
      [['why', `${SLUG}#99`], 1, ''],
      [['costs', 'no/such'], 1, ''],
    ])('refuses %j with %i', async (args, status, message) => {
      const { code, stdout, stderr } = await pipeline.run(...args);
      expect([code, stdout, stderr]).toEqual([status, '', expect.stringMatching(/^error: /)]);
      expect(stderr).toContain(message);
    });
  });

  describe('pipeline watch', () => {
    test('prints an issue that enters the list of a repository', async () => {
      const requests = () => world.front.counts().reduce((sum, count) => sum + count, 0);
      const before = requests();
      const watch = pipeline.start('watch', SLUG, '--every', '1', '--changes', '1', '--json');
      // The second request is sent after the first response.
      await until('the list is read', () => requests() >= before + 2);
      await labelIssue(world.hosting.api, repo, 3);
      const { code, stdout } = await watch.ended;
      expect([code, JSON.parse(stdout)]).toEqual([0, expect.objectContaining({ change: 'added', issueNumber: 3 })]);
    });

    test('ends when the issue is done', async () => {
      const watch = pipeline.start('watch', `${SLUG}#2`, '--every', '1');
      await until('the first explanation is printed', () => watch.output.stdout.includes('\n'));
      await database.db.updateTable('issues').set({ state: 'done' }).where('issue_number', '=', 2).execute();
      const { code, stdout } = await watch.ended;
      expect([code, stdout.trimEnd().split('\n').length]).toEqual([0, 2]);
    });
  });
});
