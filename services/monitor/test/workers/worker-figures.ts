import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { registerWorker } from '@pipeline/engine';
import fc from 'fast-check';
import { sql } from 'kysely';
import { type Bench, makeBench } from '../support/bench.ts';
import { type Call, serveConnected } from '../support/served-app.ts';
import { database } from './database.ts';

describe('figures of workers', () => {
  const NOW = Date.parse('2026-03-20T12:00:00Z');
  const DAY = 24 * 60;
  const WINDOW = 8 * 60;
  let benches: Bench[];
  let workers: string[];
  let call: Call;
  let close: () => Promise<void>;

  beforeAll(async () => {
    database.clock.now = new Date(NOW);
    benches = [await makeBench(database.store, 'acme/shop'), await makeBench(database.store, 'acme/other')];
    const { engine, tenantId } = at(benches, 0);
    workers = [];
    for (const name of ['a', 'b']) {
      const input = { name, hostname: '', version: '', repos: [], taskTypes: ['develop'], labels: {} };
      workers.push(await registerWorker(engine, tenantId, input));
    }
    ({ call, close } = await serveConnected({ engine }));
  });
  afterAll(() => close());

  function at<T>(list: readonly T[], index: number): T {
    const item = list[index];
    if (item === undefined) throw new Error(`nothing at ${index}`);
    return item;
  }
  /** Times are whole minutes before now, so that going through them minute by minute is exact. */
  const ago = (minutes: number) => new Date(NOW - minutes * 60_000).toISOString();

  interface Run {
    worker: number;
    repo: number;
    agent: string;
    from: number;
    to: number;
    end: 'finished' | 'failed' | 'lost' | 'cancelled' | 'claimed';
  }

  const run = (oldest: number, longest: number): fc.Arbitrary<Run> =>
    fc
      .record({
        worker: fc.nat({ max: 1 }),
        repo: fc.nat({ max: 1 }),
        agent: fc.constantFrom('developer', 'developer', 'reviewer'),
        from: fc.integer({ min: 0, max: oldest }),
        length: fc.nat({ max: longest }),
        end: fc.constantFrom<Run['end']>('finished', 'finished', 'finished', 'failed', 'lost', 'cancelled', 'claimed'),
      })
      .map(({ length, ...rest }) => ({ ...rest, to: rest.from - length }))
      // What has ended has ended in the past; a lease may end later.
      .map((made) => (['cancelled', 'claimed'].includes(made.end) ? made : { ...made, to: Math.max(0, made.to) }));

  /** Work around the window, and a week and a half of work for the estimates. */
  const History = fc.record({
    runs: fc
      .tuple(
        fc.array(run(WINDOW + DAY - 1, DAY), { maxLength: 12 }),
        fc.array(run(11 * DAY, 60), { minLength: 20, maxLength: 80 }),
      )
      .map((both) => both.flat()),
    /** Boundaries of online periods, per worker; the last one may still run. */
    online: fc.array(
      fc
        .uniqueArray(fc.integer({ min: 1, max: 2 * WINDOW }), { maxLength: 9 })
        .map((times) => times.sort((x, y) => y - x)),
      { minLength: 2, maxLength: 2 },
    ),
    current: fc.array(fc.record({ repo: fc.nat({ max: 1 }), from: fc.integer({ min: 0, max: 90 }) }), { maxLength: 2 }),
  });
  type History = typeof History extends fc.Arbitrary<infer T> ? T : never;

  async function store({ runs, online, current }: History): Promise<void> {
    const { tenantId } = at(benches, 0);
    for (const table of ['runs', 'tasks', 'worker_periods']) await sql.raw(`delete from ${table}`).execute(database.db);
    const task = { tenant_id: tenantId, attempt: 0, task_type: 'develop' as const };
    await database.db
      .insertInto('runs')
      .values(
        runs.map(({ worker, repo, agent, from, to, end }) => ({
          ...task,
          task_id: randomUUID(),
          work_id: randomUUID(),
          repo_id: at(benches, repo).repo.id,
          agent,
          worker_id: at(workers, worker),
          claim_token_hash: randomUUID(),
          status: end,
          claimed_at: ago(from),
          ...(end === 'cancelled' || end === 'claimed'
            ? { lease_expires_at: ago(to) }
            : { finished_at: ago(to), lease_expires_at: ago(to - 1) }),
        })),
      )
      .execute();
    const periods = online.flatMap((times, worker) => periodsOf(times).map((period) => ({ ...period, worker })));
    for (const { worker, from, to } of periods) {
      const ended_at = to === null ? null : ago(to);
      const values = { tenant_id: tenantId, worker_id: at(workers, worker), kind: 'online' as const };
      await database.db
        .insertInto('worker_periods')
        .values({ ...values, started_at: ago(from), ended_at })
        .execute();
    }
    for (const [worker, { repo, from }] of current.entries()) {
      await database.db
        .insertInto('tasks')
        .values({
          ...task,
          id: randomUUID(),
          work_id: randomUUID(),
          repo_id: at(benches, repo).repo.id,
          priority: 1,
          turn: 1,
          max_attempts: 3,
          status: 'claimed',
          claimed_by: at(workers, worker),
          claimed_at: ago(from),
          progress_at: ago(0),
          lease_expires_at: ago(-1),
        })
        .execute();
    }
  }

  /** Boundaries from the oldest on, as periods. */
  const periodsOf = (times: readonly number[]) =>
    times.flatMap((from, index) => (index % 2 === 0 ? [{ from, to: times[index + 1] ?? null }] : []));

  /** Minute by minute: was the worker there, and had it a task? */
  function naiveUtilization({ runs, online }: History, worker: number): number {
    const covers = (minute: number, { from, to }: { from: number; to: number | null }) =>
      minute <= from && minute > (to ?? 0);
    let there = 0;
    let busy = 0;
    for (let minute = WINDOW; minute > 0; minute -= 1) {
      if (!periodsOf(at(online, worker)).some((period) => covers(minute, period))) continue;
      there += 1;
      if (runs.some((made) => made.worker === worker && covers(minute, made))) busy += 1;
    }
    return there === 0 ? 0 : Math.round((1_000 * busy) / there) / 10;
  }

  function naiveEta({ runs, current }: History, worker: number): number | null {
    const task = current[worker];
    if (!task) return null;
    const minutes = runs
      .filter(
        ({ repo, agent, end, to }) => repo === task.repo && agent === 'developer' && end === 'finished' && to < 7 * DAY,
      )
      .map(({ from, to }) => from - to)
      .sort((x, y) => x - y);
    if (minutes.length < 5) return null;
    const middle = (minutes.length - 1) / 2;
    const median = (at(minutes, Math.floor(middle)) + at(minutes, Math.ceil(middle))) / 2;
    return Math.max(0, median - task.from);
  }

  interface Entry {
    id: string;
    utilization8hPct: number;
    currentTask: { etaMinutes: number | null } | null;
  }

  function compare(history: Parameters<typeof store>[0], items: readonly Entry[], seen: Record<string, number>): void {
    const count = (what: string) => {
      seen[what] = (seen[what] ?? 0) + 1;
    };
    for (const [worker, id] of workers.entries()) {
      const entry = items.find((item) => item.id === id);
      const wanted = { utilization: naiveUtilization(history, worker), eta: naiveEta(history, worker) };
      const eta = entry?.currentTask?.etaMinutes ?? null;
      expect({ utilization: entry?.utilization8hPct, eta }).toEqual(wanted);
      if (wanted.utilization > 0 && wanted.utilization < 100) count('busy');
      if (wanted.eta !== null) count('estimated');
      else if (entry?.currentTask) count('unestimated');
    }
  }

  test('utilisation and estimates equal a naive recomputation over any history', async () => {
    const seen = { busy: 0, estimated: 0, unestimated: 0 };
    await fc.assert(
      fc.asyncProperty(History, async (history) => {
        await store(history);
        const { items } = (await call('GET', '/api/workers/floor')).json as never as { items: Entry[] };
        compare(history, items, seen);
      }),
      { numRuns: 100 },
    );
    // The generator reaches what it is meant to reach.
    for (const count of Object.values(seen)) expect(count).toBeGreaterThan(5);
  });

  afterAll(() => database.clear());
});
