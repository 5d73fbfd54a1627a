import { beforeAll, expect, test } from '@jest/globals';
import { actOnIssue, progress, transitionIssue } from '@pipeline/engine';
import { eventsOfIssue } from '@pipeline/store';
import { sql } from 'kysely';
import { refOf, step, take, workUntil } from '../harness.ts';
import { OLGA, Stage } from '../stage.ts';

const bench = new Stage();
const { database } = bench;

const HELD = 4_711;

/** Transactions that write one of these events wait before their commit while the lock is held. */
beforeAll(async () => {
  await sql`
    create function hold_commit() returns trigger language plpgsql as $$
    begin
      perform pg_advisory_xact_lock_shared(${sql.lit(HELD)});
      return null;
    end $$`.execute(database.db);
  await sql`
    create constraint trigger hold_commit after insert on issue_events deferrable initially deferred
    for each row when (new.status in ('held', 'pause by operator')) execute function hold_commit()`.execute(
    database.db,
  );
});

/** Like a client that polls: the events later than the newest one that it has. */
async function poll(since: string | null): Promise<{ status: string; createdAt: string }[]> {
  const { id: issueId } = await bench.issue();
  return eventsOfIssue(bench.engine.store.reads, bench.tenantId, { issueId, since, limit: 200, offset: 0 });
}

/** Waits until this many sessions are blocked by a lock, or the work completes without. */
async function waitsForLocks(count: number, work: Promise<unknown>): Promise<void> {
  let isDone = false;
  void work.finally(() => {
    isDone = true;
  });
  while (!isDone) {
    const { rows } = await sql<{ n: number }>`
      select count(*)::int as n from pg_stat_activity
      where wait_event_type = 'Lock' and datname = current_database()`.execute(database.db);
    if ((rows[0]?.n ?? 0) >= count) return;
  }
}

const report = async (status: string, task: Awaited<ReturnType<typeof take>>) =>
  progress(bench.engine, refOf(bench, task), { status, details: null, invocations: [] });

const WRITERS = {
  'the progress of a task and an action of an operator': async () => {
    const task = await take(bench);
    const key = await bench.key();
    return [() => report('held', task), () => actOnIssue(bench.engine, key, 'retry', OLGA)] as const;
  },
  'the progress of a retrospective and an action of an operator': async () => {
    await workUntil(bench, 'merge-pending');
    await step(bench);
    const task = await take(bench, ['retrospect']);
    const key = await bench.key();
    return [() => report('held', task), () => transitionIssue(bench.engine, key, 'new', OLGA)] as const;
  },
  'an action of an operator and the progress of a task': async () => {
    const task = await take(bench);
    const key = await bench.key();
    return [() => actOnIssue(bench.engine, key, 'pause', OLGA), () => report('reading', task)] as const;
  },
};

test.each(Object.entries(WRITERS))('a client misses no event when %s are concurrent', async (_who, writers) => {
  const [writeFirst, writeSecond] = await writers();
  const { first, second, known } = await database.db.transaction().execute(async (tx) => {
    await sql`select pg_advisory_xact_lock(${HELD})`.execute(tx);
    const first = writeFirst();
    await waitsForLocks(1, first);
    bench.pass(1);
    const second = writeSecond();
    await waitsForLocks(2, second);
    return { first, second, known: await poll(null) };
  });
  await Promise.all([first, second]);
  const news = await poll(known[0]?.createdAt ?? null);
  expect(news.length).toBeGreaterThan(1);
  expect([...news, ...known]).toEqual(await poll(null));
});
