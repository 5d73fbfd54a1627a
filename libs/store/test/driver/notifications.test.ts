import { afterEach, describe, expect, test } from '@jest/globals';
import { type sleep as runtimeSleep, silentLogger } from '@pipeline/runtime';
import { testDatabase } from '@pipeline/testing';
import { sql } from 'kysely';
import {
  assertLeader,
  beginTransaction,
  IDLE_SESSION_TIMEOUT_MS,
  Notifications,
  type NotifiedTenants,
} from '../../src/index.ts';

const database = testDatabase();
const opened: Notifications[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((bell) => bell.close()));
});

/** Waits that end when the test ends them, or with their signal. */
function heldSleep() {
  const waits: { ms: number; end: (whole: boolean) => void }[] = [];
  const sleep: typeof runtimeSleep = (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve(false);
      const wait = { ms, end: (whole: boolean) => resolve(whole) };
      waits.push(wait);
      signal?.addEventListener('abort', () => wait.end(false), { once: true });
    });
  const end = (which: (ms: number) => boolean) => {
    for (const wait of waits) if (which(wait.ms)) wait.end(true);
  };
  return { sleep, end };
}

const window = (ms: number) => ms === 5;
const heartbeat = (ms: number) => ms === 5_000;
const backoff = (ms: number) => ms > 5 && !heartbeat(ms);

function openBell(applicationName = 'bell', directUrl = database.url, clock?: () => number) {
  const { sleep, end } = heldSleep();
  const logged: string[] = [];
  const keep = (message: string) => void logged.push(message);
  const log = { ...silentLogger, info: keep, warn: keep };
  const bell = new Notifications({ directUrl, applicationName, sleep, log, clock });
  opened.push(bell);
  return { bell, end, logged };
}

/** Collects notifications and waits for the next ones without a clock. */
function collect(bell: Notifications, channel: Parameters<Notifications['on']>[0] = 'svc_tasks') {
  const received: NotifiedTenants[] = [];
  let waiting: (() => void) | undefined;
  const off = bell.on(channel, (value) => {
    received.push(value);
    waiting?.();
  });
  const until = async (count: number) => {
    while (received.length < count) await new Promise<void>((resolve) => (waiting = resolve));
    return received;
  };
  return { received, until, off };
}

const kill = (applicationName: string) =>
  sql`select pg_terminate_backend(pid, 2000) from pg_stat_activity where application_name = ${applicationName}`.execute(
    database.store.db,
  );

describe('notifications', () => {
  test('sends the first notification immediately, then one per window, until a window has none', async () => {
    const listener = openBell('listener');
    const { received, until } = collect(listener.bell);
    listener.bell.start();
    await until(1);
    const { bell, end } = openBell();
    const own = collect(bell);
    bell.start();
    await own.until(1);
    bell.notify('svc_tasks', [1]);
    expect(await until(2)).toEqual([null, [1]]);
    bell.notify('svc_tasks', [2, 3]);
    bell.notify('svc_tasks', [3, 4]);
    end(window);
    expect(await until(3)).toEqual([null, [1], [2, 3, 4]]);
    await own.until(3);
    bell.notify('svc_tasks', [5]);
    bell.notify('svc_tasks');
    end(window);
    expect((await until(4)).at(-1)).toBeNull();
    await own.until(4);
    end(window);
    // Two turns of the event loop: the window has ended without notifications.
    await sql`select 1`.execute(database.store.db);
    bell.notify('svc_tasks', [6]);
    expect((await until(5)).at(-1)).toEqual([6]);
    expect(received).toHaveLength(5);
  });

  test('mean all tenants when the list is too long for NOTIFY', async () => {
    const { bell } = openBell();
    const { until } = collect(bell);
    bell.start();
    await until(1);
    bell.notify(
      'svc_tasks',
      Array.from({ length: 3_000 }, (_, id) => id),
    );
    expect(await until(2)).toEqual([null, null]);
  });

  test('pass to the handler whether this process sent them', async () => {
    const seen: string[] = [];
    for (const name of ['one', 'two']) {
      const { bell } = openBell(name);
      bell.on('svc_stream', (received, isOwn) => void seen.push(`${name} ${received} ${isOwn}`));
      bell.start();
      while (!seen.includes(`${name} null false`)) await sql`select 1`.execute(database.store.db);
    }
    opened[0]?.notify('svc_stream', [7]);
    while (seen.length < 4) await sql`select 1`.execute(database.store.db);
    expect(seen.slice(2).sort()).toEqual(['one 7 true', 'two 7 false']);
  });

  test('close sends the notifications of an open window', async () => {
    const listener = openBell('listener');
    const { until } = collect(listener.bell, 'svc_stream');
    listener.bell.start();
    await until(1);
    const { bell } = openBell();
    const { until: up } = collect(bell);
    bell.start();
    await up(1);
    bell.notify('svc_stream', [1]);
    bell.notify('svc_stream', [2]);
    await bell.close();
    expect(await until(3)).toEqual([null, [1], [2]]);
  });

  test('reach other handlers when one throws or is removed', async () => {
    const { bell, logged } = openBell();
    bell.on('svc_cache', () => {
      throw new Error('broken handler');
    });
    const gone = collect(bell, 'svc_cache');
    const { until } = collect(bell, 'svc_cache');
    gone.off();
    bell.start();
    await until(1);
    bell.notify('svc_cache', [7]);
    await until(2);
    expect(gone.received).toEqual([]);
    expect(logged.filter((line) => line.includes('handler'))).toHaveLength(2);
  });
});

describe('a lost connection', () => {
  test('a lost connection is re-established, and every handler is called for all tenants', async () => {
    const { bell, end, logged } = openBell('bell');
    const tasks = collect(bell);
    const stream = collect(bell, 'svc_stream');
    bell.start();
    await Promise.all([tasks.until(1), stream.until(1)]);
    await kill('bell');
    while (!logged.some((line) => line.includes('lost'))) await sql`select 1`.execute(database.store.db);
    bell.notify('svc_tasks', [1]);
    expect(tasks.received).toEqual([null]);
    end(backoff);
    expect(await tasks.until(3)).toEqual([null, null, null]);
    expect(await stream.until(2)).toEqual([null, null]);
  });

  test('delays no caller while the server is not available', async () => {
    const { bell, end, logged } = openBell('early', 'postgres://u:p@127.0.0.1:1/nothing');
    bell.start();
    bell.notify('svc_tasks');
    for (let rounds = 1; rounds <= 3; rounds += 1) {
      while (logged.length < rounds) await sql`select 1`.execute(database.store.db);
      end(backoff);
    }
    expect(await bell.lead()).toBeNull();
    await bell.close();
  });

  test('the heartbeat detects a lost connection when idle', async () => {
    const { bell, end } = openBell('beat');
    const { until } = collect(bell);
    bell.start();
    await until(1);
    await sql`select 1`.execute(database.store.db);
    end(heartbeat);
    const asked = async () =>
      (
        await sql<{ query: string }>`select query from pg_stat_activity where application_name = 'beat'`.execute(
          database.store.db,
        )
      ).rows[0]?.query;
    while ((await asked()) !== 'select 1') await sql`select 1`.execute(database.store.db);
  });
});

describe('the leader lock', () => {
  async function until(holds: () => Promise<boolean>): Promise<void> {
    while (!(await holds())) await sql`select pg_sleep(0.01)`.execute(database.store.db);
  }

  async function up(name: string) {
    const opened = openBell(name);
    const { until } = collect(opened.bell, 'svc_settings');
    opened.bell.start();
    await until(1);
    return { ...opened, until };
  }

  test('one process holds the lock, and the next one after the end of its term', async () => {
    const [a, b] = [await up('a'), await up('b')];
    const [term, same] = await Promise.all([a.bell.lead(), a.bell.lead()]);
    expect([term?.isHeld(), same === term, a.bell.isLeader]).toEqual([true, true, true]);
    expect(await b.bell.lead()).toBeNull();
    term?.end();
    term?.end();
    expect([term?.isHeld(), term?.signal.aborted, a.bell.isLeader]).toEqual([false, true, false]);
    await until(async () => (await b.bell.lead()) !== null);
    expect(await a.bell.lead()).toBeNull();
  });

  test('the term ends with its connection, and another process takes over', async () => {
    const [a, b] = [await up('a'), await up('b')];
    const term = await a.bell.lead();
    await kill('a');
    while (!term?.signal.aborted) await sql`select 1`.execute(database.store.db);
    expect(await b.bell.lead()).not.toBeNull();
    a.end(backoff);
    await a.until(2);
    expect(await a.bell.lead()).toBeNull();
  });

  test('increments the epoch for each change of leader', async () => {
    const [a, b] = [await up('a'), await up('b')];
    const first = await a.bell.lead();
    first?.end();
    await until(async () => (await b.bell.lead()) !== null);
    const second = await b.bell.lead();
    expect(second?.epoch).toBe((first?.epoch ?? 0) + 1);
    const { rows } = await sql`select name, epoch::int, holder from leaders`.execute(database.store.db);
    expect(rows).toEqual([{ name: 'monitor', epoch: second?.epoch, holder: 'b' }]);
  });

  test('passes on only after the open transactions of the former leader have ended', async () => {
    const [a, b] = [await up('a'), await up('b')];
    const term = await a.bell.lead();
    if (!term) throw new Error('no leader');
    const { tx, commit } = await beginTransaction(database.store.db);
    await assertLeader(tx, term);
    await kill('a');
    const taken = b.bell.lead();
    const isWaiting = async () =>
      (
        await sql`select from pg_stat_activity where application_name = 'b' and wait_event = 'advisory'`.execute(
          database.store.db,
        )
      ).rows.length > 0;
    while (!(await isWaiting())) await sql`select 1`.execute(tx);
    await commit();
    expect((await taken)?.epoch).toBe(term.epoch + 1);
  });

  test('the lock is not held once the server has confirmed nothing for the idle timeout', async () => {
    let elapsed = 0;
    const { bell } = openBell('frozen', database.url, () => elapsed);
    const { until } = collect(bell, 'svc_settings');
    bell.start();
    await until(1);
    const term = await bell.lead();
    elapsed = IDLE_SESSION_TIMEOUT_MS - 1;
    expect(term?.isHeld()).toBe(true);
    elapsed += 1;
    expect(term?.isHeld()).toBe(false);
  });

  test('close ends the term', async () => {
    const [a, b] = [await up('a'), await up('b')];
    const term = await a.bell.lead();
    await a.bell.close();
    expect(term?.signal.aborted).toBe(true);
    await until(async () => (await b.bell.lead()) !== null);
  });
});
