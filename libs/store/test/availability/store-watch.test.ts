import { beforeEach, describe, expect, test } from '@jest/globals';
import { AppError } from '@pipeline/domain';
import { StartError, silentLogger } from '@pipeline/runtime';
import { handlersReportingOutages, reportingOutages, requireStore, type Store, StoreWatch } from '@pipeline/store';
import { startCutProxy, testDatabase, until } from '@pipeline/testing';
import { databaseUrl, execute } from '@pipeline/testing/template';
import { sql } from 'kysely';

const database = testDatabase();
let logged: string[] = [];
beforeEach(() => {
  logged = [];
});
const log = {
  ...silentLogger,
  info: (msg: string) => void logged.push(msg),
  warn: (msg: string) => void logged.push(msg),
  error: (msg: string) => void logged.push(msg),
};

/** The store behind a way that can be cut. */
async function cuttable(): Promise<{ store: Store; watch: StoreWatch; cut(): void; restore(): void }> {
  const way = await startCutProxy(database.url);
  database.defer(way.close);
  const store = database.open({ databaseUrl: way.url, clock: undefined, onConnectionError: () => undefined });
  database.defer(store.close);
  return { store, watch: new StoreWatch({ store, log }), cut: way.cut, restore: way.restore };
}

const watchOn = async <T>(url: string, use: (watch: StoreWatch) => Promise<T>): Promise<T> => {
  const store = database.open({ databaseUrl: url });
  try {
    return await use(new StoreWatch({ store, log }));
  } finally {
    await store.close();
  }
};

describe('the watch', () => {
  test('follows the store as it goes and comes back, and logs each change once', async () => {
    const { watch, cut, restore } = await cuttable();
    let returns = 0;
    watch.onConnected(() => {
      returns += 1;
    });
    expect([watch.state, watch.isConnected]).toEqual(['unreachable', false]);
    for (const _ of [1, 2]) expect(await watch.check()).toBe('connected');
    expect([watch.problem, returns]).toEqual([null, 1]);
    cut();
    for (const _ of [1, 2]) expect(await watch.check()).toBe('unreachable');
    expect(watch.problem).toBeInstanceOf(Error);
    restore();
    expect(await watch.check()).toBe('connected');
    expect([watch.isConnected, returns]).toEqual([true, 2]);
    expect(logged).toEqual([
      'the store is connected',
      'the store is unreachable: dependent work waits for it',
      'the store is connected',
    ]);
  });

  test('warns once when the login of the process may change the schema', async () => {
    const warning = 'the database login of this process can change the schema; use a role with data privileges only';
    await watchOn(database.url, (watch) => watch.check());
    expect(logged).toEqual(['the store is connected']);
    await watchOn(database.adminUrl, async (watch) => {
      for (const _ of [1, 2]) expect(await watch.check()).toBe('connected');
    });
    expect(logged).toEqual(['the store is connected', warning, 'the store is connected']);
  });

  test('asks once for many who want to know', async () => {
    const asked: string[] = [];
    const store = database.open({ onStatement: (text) => asked.push(text) });
    const watch = new StoreWatch({ store, log });
    await Promise.all([watch.check(), watch.check(), watch.check()]);
    expect(asked.filter((text) => text.startsWith('select current_schema()'))).toHaveLength(1);
    await store.close();
  });
});

describe('before anything is served', () => {
  const refusal = (url: string) =>
    watchOn(url, (watch) =>
      requireStore(watch).then(
        () => null,
        (error: unknown) => error,
      ),
    );

  test('a store that fits, or that is away, is no reason to end', async () => {
    expect(await refusal(database.url)).toBeNull();
    expect(await refusal('postgres://nobody@127.0.0.1:1/none')).toBeNull();
  });

  test('a schema that does not fit ends the start, with the command that corrects it', async () => {
    const empty = `${new URL(database.adminUrl).pathname.slice(1)}_empty`;
    await execute(database.adminUrl, `create database ${empty}`);
    const url = databaseUrl(database.adminUrl, empty);
    expect(await watchOn(url, (watch) => watch.check())).toBe('outdated');
    const error = await refusal(url);
    expect(error).toBeInstanceOf(StartError);
    expect((error as Error).message).toContain('npm run migrate');
    await execute(database.adminUrl, `drop database ${empty} with (force)`);
  });

  test('a database that is not there ends the start, naming the variable', async () => {
    const error = await refusal(databaseUrl(database.adminUrl, 'no_such_database'));
    expect(error).toBeInstanceOf(StartError);
    expect((error as Error).message).toMatch(/^DATABASE_URL: .*no_such_database/);
  });

  test('a pooler that refuses the parameters of connections ends the start, with the version that accepts them', async () => {
    const cause = Object.assign(new Error('unsupported startup parameter: options'), { code: '08P01' });
    const store = { db: { executeQuery: () => Promise.reject(cause) } } as never;
    const refused = requireStore(new StoreWatch({ store, log }));
    await expect(refused).rejects.toThrow(StartError);
    await expect(refused).rejects.toThrow(
      /^DATABASE_URL: unsupported startup parameter: options: PgBouncer must be 1\.21/,
    );
  });

  test('an unexpected error ends the start as it is', async () => {
    const store = { db: { executeQuery: () => Promise.reject(new TypeError('no such method')) } } as never;
    await expect(requireStore(new StoreWatch({ store, log }))).rejects.toThrow(TypeError);
  });
});

describe('a call that meets an outage', () => {
  test('the call fails with STORE_UNAVAILABLE, and the watch checks at once', async () => {
    const { store, watch, cut } = await cuttable();
    database.defer(() => watch.loop.stop());
    watch.loop.start();
    await until('the first check', () => watch.isConnected);
    cut();
    const asking = reportingOutages(watch, (what: number) => sql`select ${what}::int`.execute(store.db));
    await expect(asking(1)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE', cause: expect.anything() });
    await until('the watch notices', () => !watch.isConnected);
  });

  test('other errors, and answers, pass as they are', async () => {
    const watch = new StoreWatch({ store: database.store, log });
    const handlers = handlersReportingOutages(watch, {
      answers: (name: string) => `hello ${name}`,
      refuses: () => {
        throw new AppError('NOT_FOUND', 'no');
      },
      fails: () => sql`select 1/0`.execute(database.store.db),
    });
    expect(await handlers.answers('Olga')).toBe('hello Olga');
    await expect(async () => handlers.refuses()).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(handlers.fails()).rejects.toThrow('division by zero');
  });
});
