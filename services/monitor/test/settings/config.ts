import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import type { HostRepo, VcsHost } from '@pipeline/domain';
import { silentLogger } from '@pipeline/runtime';
import type { ConnectedHost } from '../../src/hosts/hosts.ts';
import { loadConfig } from '../../src/settings/config.ts';
import { ConfigSync } from '../../src/settings/config-sync.ts';
import { engineOn } from '../support/bench.ts';
import { database } from './database.ts';

describe('the configuration', () => {
  const folder = mkdtempSync(join(tmpdir(), 'monitor-config-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  const file = (text: string): string => {
    const path = join(folder, 'pipeline.yaml');
    writeFileSync(path, text);
    return path;
  };
  const VARIABLES = { SET: 'x', BAD_HASH: '$argon2id$nonsense' };
  const load = (text: string) => loadConfig(file(text), VARIABLES);

  describe('the file', () => {
    test('none is the built-in default, and so is one without keys', async () => {
      expect((await loadConfig(undefined, {})).source).toBe('default');
      expect((await load('{} # nothing yet\n')).config).toEqual((await loadConfig(undefined, {})).config);
      expect((await load('{}')).source).toBe(join(folder, 'pipeline.yaml'));
    });

    test.each(['', ' \n', '# nothing yet\n', '---\n', 'null'])(
      'refuses an empty file, as %j, since it would leave the monitor open',
      async (text) => {
        await expect(load(text)).rejects.toMatchObject({
          code: 'CONFIG_VALIDATION_FAILED',
          message: expect.stringMatching(/^config: is empty/),
        });
      },
    );

    const channel = (fields: string) => `alertChannels: [{${fields}}]`;
    const auth = (fields: string) => `agents: {monitor: {auth: {username: olga, ${fields}}}}`;
    test.each([
      [auth('passwordEnv: UNSET'), /^UNSET: must be set: agents.monitor.auth names it for olga$/],
      [auth('passwordEnv: SET, logins: [{username: per, passwordEnv: GONE}]'), /^GONE: must be set.* for per$/],
      [auth('passwordEnv: BAD_HASH'), /^BAD_HASH: looks like a hash/],
      [channel('type: webhook, url: "https://x.example", secretEnv: UNSET'), /^UNSET: must be set: alertChannels\[0\]/],
      [channel('type: slack, urlEnv: UNSET'), /^UNSET: must be set: alertChannels\[0\].urlEnv names it$/],
      [
        'retrieval: {embedding: true, embeddingEndpoint: {url: "https://x.example", model: m, apiKeyEnv: UNSET}}',
        /^UNSET: must be set: retrieval.embeddingEndpoint.apiKeyEnv names it$/,
      ],
    ])('refuses the file when a variable that it names is not set: %s', async (text, message) => {
      await expect(load(text)).rejects.toMatchObject({
        code: 'CONFIG_VALIDATION_FAILED',
        message: expect.stringMatching(message),
      });
      await load(text.replace(/UNSET|GONE|BAD_HASH/, 'SET'));
    });

    test.each([
      ['repos: [', ['CONFIG_LOAD_FAILED', /^line 1, at "repos": .* a bracket or brace is not closed$/]],
      ['a: 1\na: 2', ['CONFIG_LOAD_FAILED', /^line 2, at "a": the key is there twice$/]],
      ['sla:\n  x: 1\n\ty: 2', ['CONFIG_LOAD_FAILED', /^line 3, at "y": a line begins with a tab/]],
      ['repos: *none', ['CONFIG_LOAD_FAILED', /^line 1, at "repos": the alias \*none has no anchor$/]],
      ['a: 1\n b: 2', ['CONFIG_LOAD_FAILED', /^line 1, at "a": .*colons\nline 1, at "a": /]],
      ['a: "x', ['CONFIG_LOAD_FAILED', /^line 1, at "a": a closing quote, /]],
      [
        'reposs: []\npollIntervals: {monitor: 0}',
        ['CONFIG_VALIDATION_FAILED', /^pollIntervals.monitor: .*\nreposs: .*$/],
      ],
      ['repos: [{slug: nonsense}]', ['CONFIG_VALIDATION_FAILED', /^repos\[0\].slug: must be owner\/name$/]],
      ['just text', ['CONFIG_VALIDATION_FAILED', /^config: /]],
    ] as [string, [string, RegExp]][])('%j is refused, one line for each problem', async (text, [code, message]) => {
      await expect(load(text)).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
    });

    test('one that does not exist is reported with the reason', async () => {
      await expect(loadConfig(join(folder, 'none.yaml'), {})).rejects.toMatchObject({
        code: 'CONFIG_LOAD_FAILED',
        message: expect.stringContaining('ENOENT'),
      });
    });
  });

  describe('config into the store', () => {
    /** A host that knows these repos and answers no other question. */
    const hostWith = (known: Record<string, HostRepo>): ConnectedHost => ({
      kind: 'sandbox',
      budget: null,
      rate: { remaining: null, limitedMinutes: () => 0 },
      cloneUrl: ({ owner, name }) => `http://127.0.0.1:1/${owner}/${name}.git`,
      vcs: {
        clientType: 'sandbox',
        getRepo: async ({ owner, name }) => {
          const repo = known[`${owner}/${name}`];
          if (!repo) throw new Error('no answer');
          return repo;
        },
      } as Partial<VcsHost> as VcsHost,
    });
    let ids = 0;
    const reported = (owner: string, name: string, defaultBranch: string): HostRepo => {
      ids += 1;
      const cloneUrl = `http://git/${owner}/${name}.git`;
      return { id: ids, owner, name, archived: false, defaultBranch, cloneUrl, private: false };
    };
    const repos = () =>
      database.db
        .selectFrom('repos')
        .innerJoin('tenants', 'tenants.id', 'repos.tenant_id')
        .select([
          'external_id',
          'owner',
          'repos.name',
          'default_branch',
          'clone_url',
          'vcs_host',
          'pool_size',
          'enabled',
        ])
        .select('compare')
        .orderBy('repos.slug_key')
        .execute();
    const syncOf = async (text: string, hosts: ConnectedHost[]) =>
      new ConfigSync({
        engine: engineOn(database.store),
        hosts,
        config: { file: await load(text) },
        log: silentLogger,
      });

    const REPOS = `
repos:
  - slug: acme/shop
  - {slug: acme/own-branch, branch: release, poolSize: 2, tenant: other, compare: {develop: {claude: 3, codex: 1}}}
  - {slug: acme/silent, branch: trunk}
`;

    test('adds repos as the host reports them, and asks again where it does not answer', async () => {
      const known: Record<string, HostRepo> = {
        'acme/shop': reported('Acme', 'Shop', 'master'),
        'acme/own-branch': reported('acme', 'own-branch', 'main'),
      };
      const sync = await syncOf(REPOS, [hostWith(known)]);
      await sync.tick();
      const common = { vcs_host: 'sandbox', enabled: true, compare: null };
      expect(await repos()).toEqual(
        [
          {
            ...common,
            external_id: 'other',
            owner: 'acme',
            name: 'own-branch',
            default_branch: 'release',
            clone_url: 'http://git/acme/own-branch.git',
            pool_size: 2,
            compare: { develop: { claude: 3, codex: 1 } },
          },
          {
            ...common,
            external_id: 'default',
            owner: 'Acme',
            name: 'Shop',
            default_branch: 'master',
            clone_url: 'http://git/Acme/Shop.git',
            pool_size: null,
          },
          {
            ...common,
            external_id: 'default',
            owner: 'acme',
            name: 'silent',
            default_branch: 'trunk',
            clone_url: 'http://127.0.0.1:1/acme/silent.git',
            pool_size: null,
          },
        ].sort((a, b) => (`${a.owner}/${a.name}`.toLowerCase() < `${b.owner}/${b.name}`.toLowerCase() ? -1 : 1)),
      );
      known['acme/silent'] = reported('acme', 'silent', 'main');
      delete known['acme/shop'];
      await sync.tick();
      expect((await repos()).map(({ clone_url }) => clone_url)).toEqual(
        ['http://git/acme/own-branch.git', 'http://git/Acme/Shop.git', 'http://git/acme/silent.git'].sort((a, b) =>
          a.toLowerCase() < b.toLowerCase() ? -1 : 1,
        ),
      );
    });

    test('a repo that is left out of the file is not disabled', async () => {
      await (await syncOf('{}', [])).tick();
      expect((await repos()).every(({ enabled }) => enabled)).toBe(true);
    });

    test('a reload adds new and changed repos and does not enable an unchanged one that was disabled', async () => {
      const known: Record<string, HostRepo> = {};
      for (const name of ['one', 'two', 'three']) known[`lab/${name}`] = reported('lab', name, 'main');
      const config = { file: await load('repos: [{slug: lab/one}, {slug: lab/two}]') };
      const sync = new ConfigSync({
        engine: engineOn(database.store),
        hosts: [hostWith(known)],
        config,
        log: silentLogger,
      });
      await sync.tick();
      await database.db.updateTable('repos').set({ enabled: false }).where('owner', '=', 'lab').execute();
      await sync.tick();
      config.file = await load('repos: [{slug: lab/one}, {slug: lab/two, poolSize: 4}, {slug: lab/three}]');
      await sync.tick();
      const lab = (await repos()).filter(({ owner }) => owner === 'lab');
      expect(lab.map(({ name, enabled, pool_size }) => [name, enabled, pool_size])).toEqual([
        ['one', false, null],
        ['three', true, null],
        ['two', true, 4],
      ]);
    });

    describe('of a repo that was renamed on the host', () => {
      const renamed = async (tag: string) => {
        const known: Record<string, HostRepo> = { [`${tag}/old`]: reported(tag, 'old', 'main') };
        const text = `repos: [{slug: ${tag}/old}]`;
        const enter = async () => (await syncOf(text, [hostWith(known)])).tick();
        await enter();
        const moved = { ...(known[`${tag}/old`] as HostRepo), name: 'new' };
        // The host leads from the old name to the new one.
        known[`${tag}/old`] = moved;
        const names = async () => (await repos()).filter(({ owner }) => owner === tag).map(({ name }) => name);
        return { known, enter, names };
      };

      test('gives the known repo its new name', async () => {
        const { enter, names } = await renamed('moved');
        await enter();
        expect(await names()).toEqual(['new']);
      });

      test('adds nothing when another repository has the old name', async () => {
        const { known, enter, names } = await renamed('taken');
        await enter();
        known['taken/old'] = reported('taken', 'old', 'main');
        await enter();
        expect(await names()).toEqual(['new']);
      });

      test('adds nothing while the host does not respond', async () => {
        const { known, enter, names } = await renamed('hushed');
        await enter();
        delete known['hushed/old'];
        await enter();
        expect(await names()).toEqual(['new']);
      });

      test('leaves the known repo as it is when another repository has its name before the rename was noticed', async () => {
        const { known, enter, names } = await renamed('swapped');
        known['swapped/old'] = reported('swapped', 'old', 'trunk');
        await enter();
        expect(await names()).toEqual(['old']);
        const [row] = (await repos()).filter(({ owner }) => owner === 'swapped');
        expect(row?.default_branch).toBe('main');
      });
    });

    test('a repo whose host has not responded yet is still read again after a reload', async () => {
      const known: Record<string, HostRepo> = {};
      const config = { file: await load('repos: [{slug: late/one}]') };
      const sync = new ConfigSync({
        engine: engineOn(database.store),
        hosts: [hostWith(known)],
        config,
        log: silentLogger,
      });
      await sync.tick();
      config.file = await load('repos: [{slug: late/one}]\nsla: {}');
      known['late/one'] = reported('late', 'One', 'trunk');
      await sync.tick();
      const late = (await repos()).filter(({ owner }) => owner === 'late');
      expect(late).toMatchObject([{ name: 'One', default_branch: 'trunk' }]);
    });
  });

  afterAll(() => database.clear());
});
