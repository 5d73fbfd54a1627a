import { describe, expect, jest, test } from '@jest/globals';
import { startCutProxy, testDatabase } from '@pipeline/testing';
import { sql } from 'kysely';
import { REPLICA_REST_MS } from '../../src/driver/replica-driver.ts';
import { DatabaseUrl, isUnavailable, openLoopStore, openStore, type Store, withSearchPath } from '../../src/index.ts';

const database = testDatabase();
const NOBODY = {
  databaseUrl: 'postgres://u:p@127.0.0.1:1/nothing',
  applicationName: 'test',
  poolSize: 1,
  onConnectionError: () => {},
};

describe('values', () => {
  const one = async <T>(expression: string): Promise<T> => {
    const { rows } = await sql.raw<{ value: T }>(`select ${expression} as value`).execute(database.store.db);
    return rows[0]?.value as T;
  };

  test('returns int8 and numeric as numbers, also in arrays', async () => {
    expect(await one('9007199254740991::int8')).toBe(Number.MAX_SAFE_INTEGER);
    expect(await one('array[1, null]::int8[]')).toEqual([1, null]);
    expect(await one('12345678.123456::numeric(14,6)')).toBe(12345678.123456);
    expect(await one(`array['0.5'::numeric]`)).toEqual([0.5]);
    expect(await one('10 / 3::numeric')).toBeCloseTo(10 / 3, 14);
  });

  test.each([
    ['9007199254740993::int8', Number.MAX_SAFE_INTEGER],
    ['-9007199254740993::int8', -Number.MAX_SAFE_INTEGER],
    ["'1e20'::numeric", Number.MAX_SAFE_INTEGER],
    ["'Infinity'::numeric", Number.MAX_SAFE_INTEGER],
  ])('%s saturates at the largest exact JSON number', async (expression, expected) => {
    expect(await one(expression)).toBe(expected);
  });

  test('throws for NaN, which JSON cannot represent', async () => {
    await expect(one("'NaN'::numeric")).rejects.toThrow('does not fit a JavaScript number');
  });

  test('returns timestamptz as ISO 8601 in UTC with milliseconds in any session zone', async () => {
    expect(await one(`'2025-03-01 12:00:00.123456+05:30'::timestamptz`)).toBe('2025-03-01T06:30:00.123Z');
    expect(await one(`array['2025-03-01 12:00+00'::timestamptz]`)).toEqual(['2025-03-01T12:00:00.000Z']);
    expect(await one(`'2025-03-01'::date`)).toBe('2025-03-01');
    await expect(one(`'infinity'::timestamptz`)).rejects.toThrow('out of range');
  });
});

describe('clock', () => {
  const now = async () => (await sql<{ now: string }>`select svc_now() as now`.execute(database.store.db)).rows[0]?.now;

  test('stops and advances when a test sets the time', async () => {
    database.clock.now = new Date('2030-01-01T00:00:00Z');
    expect(await now()).toBe('2030-01-01T00:00:00.000Z');
    database.clock.now = new Date('2030-01-01T00:00:05.250Z');
    expect(await now()).toBe('2030-01-01T00:00:05.250Z');
    database.clock.now = null;
  });

  test('the store uses the server’s time without a clock', async () => {
    const store = database.open({ clock: undefined });
    const { rows } = await sql<{ same: boolean }>`select svc_now() = now() as same`.execute(store.db);
    expect(rows[0]?.same).toBe(true);
    await store.close();
  });
});

describe('pools', () => {
  test('each pool has its own application name and the store’s search path', async () => {
    const store = database.open({ applicationName: 'svc', readUrl: database.url });
    const loops = openLoopStore({ ...NOBODY, databaseUrl: database.url, applicationName: 'svc' });
    const named = async (db: Store['db']) => {
      const { rows } =
        await sql`select current_setting('application_name') as name, current_schema() as schema`.execute(db);
      return rows;
    };
    expect(await named(store.db)).toEqual([{ name: 'svc:requests', schema: 'pipeline' }]);
    expect(await named(store.reads)).toEqual([{ name: 'svc:reads', schema: 'pipeline' }]);
    expect(await named(loops.db)).toEqual([{ name: 'svc:loops', schema: 'pipeline' }]);
    await loops.close();
    await store.close();
    await store.close();
  });

  test('keep the options of the URL beside the search path', () => {
    const url = withSearchPath('postgres://u:p@h:5432/d?options=-c%20geqo%3Doff&sslmode=disable');
    expect(new URL(url).searchParams.get('options')).toBe('-c geqo=off -c search_path=pipeline,public');
    expect(new URL(url).searchParams.get('sslmode')).toBe('disable');
  });

  test('end the session of a stalled transaction, and the next one works', async () => {
    const store = database.open({ idleInTransactionMs: 50, onConnectionError: () => {} });
    const stalled = store.db.transaction().execute(async (tx) => {
      await sql`select 1`.execute(tx);
      await sql`select pg_sleep(0.3)`.execute(store.db);
      await sql`select 1`.execute(tx);
    });
    const error = await stalled.catch((caught: unknown) => caught);
    expect(isUnavailable(error)).toBe(true);
    await store.ping();
    await store.close();
  });

  test('report and replace a session that was killed while idle', async () => {
    const errors: Error[] = [];
    const store = database.open({
      applicationName: 'victim',
      poolSize: 1,
      onConnectionError: (error) => errors.push(error),
    });
    await store.ping();
    await sql`select pg_terminate_backend(pid, 1000) from pg_stat_activity where application_name = 'victim:requests'`.execute(
      database.store.db,
    );
    await store.ping().catch(() => store.ping());
    expect(errors.every(isUnavailable)).toBe(true);
    await store.close();
  });
});

describe('the address', () => {
  test.each(['postgres://u:p@h/d', 'postgresql://%2Frun%2Fpg/d', 'postgres://u:a,b@[::1]:5433/d?sslmode=disable'])(
    'accepts %s',
    (url) => expect(DatabaseUrl.parse(url)).toBe(url),
  );

  test.each([
    ['postgres://u:p@a:5432,b:5432/d', 'must name one server: after a failover'],
    ['postgres://a,b/d', 'must name one server: after a failover'],
    ['mysql://h/d', 'must be a postgres:// URL'],
    ['postgres://h:port/d', 'must be a postgres:// URL'],
  ])('refuses %s', (url, message) => {
    expect(DatabaseUrl.safeParse(url).error?.issues[0]?.message).toContain(message);
  });
});

describe('reads', () => {
  test('use the primary while the replica refuses connections, and the replica again after a rest', async () => {
    const errors: unknown[] = [];
    const replica = await startCutProxy(database.url);
    const store = database.open({
      readUrl: replica.url,
      onConnectionError: () => {},
      onReplicaError: (error) => errors.push(error),
    });
    const poolOf = async () => {
      const { rows } = await sql<{ name: string }>`select current_setting('application_name') as name`.execute(
        store.reads,
      );
      return rows[0]?.name;
    };
    expect([await poolOf(), store.isReplicaUsed]).toEqual(['test:reads', true]);
    replica.cut();
    await replica.gone();
    await poolOf().catch(() => undefined);
    expect([await poolOf(), await poolOf(), store.isReplicaUsed]).toEqual(['test:requests', 'test:requests', false]);
    expect(errors.map(isUnavailable)).toEqual([true]);
    replica.restore();
    const later = performance.now() + REPLICA_REST_MS;
    jest.spyOn(performance, 'now').mockReturnValue(later);
    expect([await poolOf(), store.isReplicaUsed]).toEqual(['test:reads', true]);
    jest.restoreAllMocks();
    await store.close();
    await replica.close();
  });
});

describe('isUnavailable', () => {
  test('distinguishes an unreachable store from a refused statement', async () => {
    const nobody = openStore(NOBODY);
    const refused = await nobody.ping().catch((error: unknown) => error);
    await nobody.close();
    const closed = await nobody.ping().catch((error: unknown) => error);
    const statement = await sql`select 1 / 0`.execute(database.store.db).catch((error: unknown) => error);
    expect([refused, closed, statement].map(isUnavailable)).toEqual([true, true, false]);
    expect(isUnavailable(new Error('wrapped', { cause: refused }))).toBe(true);
    expect(isUnavailable(undefined)).toBe(false);
  });
});
