import pg from 'pg';
import { PgBoss } from 'pg-boss';
import { inLanes, requireEqual } from '../measure/lanes.ts';
import type { Sample } from '../measure/sample.ts';
import { Stopwatch } from '../measure/stopwatch.ts';
import type { Bench } from '../runner/model.ts';

const QUEUE = 'noop';
const BATCH = 1_000;

/** pg-boss in this process, on a database of its own, its housekeeping off. It keeps finished jobs. */
export interface Boss {
  clear(): Promise<void>;
  add(index: number): Promise<unknown>;
  addBatch(from: number, count: number): Promise<unknown>;
  count(): Promise<number>;
  /** Works off so many jobs by its own workers, in batches: 4 of 500. The clock runs from the first batch to the last. */
  workInBatches(jobs: number): Promise<Sample>;
  /** Works off so many jobs one by one, fetch and complete, in so many lanes. */
  workSingly(jobs: number, lanes: number): Promise<Sample>;
}

export async function openBoss(bench: Bench, name: string): Promise<Boss> {
  const connectionString = await bench.server.emptyDatabase(name);
  const pool = new pg.Pool({ connectionString, max: 1 });
  const boss = new PgBoss({ connectionString, max: 18, supervise: false, schedule: false });
  const failures: Error[] = [];
  boss.on('error', (error) => failures.push(error));
  bench.stack.add('pg-boss', async () => {
    await boss.stop({ graceful: false });
    await pool.end();
    if (failures.length > 0) throw new AggregateError(failures, failures[0]?.message);
  });
  await boss.start();
  await boss.createQueue(QUEUE);
  const count = async (state: string) => {
    const sql = 'select count(*)::int as n from pgboss.job where name = $1 and state = $2::pgboss.job_state';
    const { rows } = await pool.query<{ n: number }>(sql, [QUEUE, state]);
    return rows[0]?.n ?? 0;
  };
  const queue = { boss, pid: bench.server.pid };
  const api: Omit<Boss, 'workInBatches' | 'workSingly'> = {
    clear: async () => void (await pool.query('truncate pgboss.job')),
    add: (index) => boss.send(QUEUE, { index }),
    addBatch: (from, size) =>
      boss.insert(
        QUEUE,
        Array.from({ length: size }, (_, at) => ({ data: { index: from + at } })),
      ),
    count: () => count('created'),
  };
  const filled = async (jobs: number, work: () => Promise<Sample>) => {
    await api.clear();
    for (let from = 0; from < jobs; from += BATCH) await api.addBatch(from, Math.min(BATCH, jobs - from));
    const sample = await work();
    requireEqual('pg-boss: jobs completed', await count('completed'), jobs);
    return sample;
  };
  return {
    ...api,
    workInBatches: (jobs) => filled(jobs, () => drainInBatches(queue, jobs)),
    workSingly: (jobs, lanes) => filled(jobs, () => drainSingly(queue, jobs, lanes)),
  };
}

interface BossQueue {
  boss: PgBoss;
  pid: number;
}

async function drainInBatches({ boss, pid }: BossQueue, jobs: number): Promise<Sample> {
  const watch = new Stopwatch(pid);
  const done = Promise.withResolvers<Sample>();
  const seen = new Set<string>();
  let executed = 0;
  const options = { batchSize: 500, burstWhenBatchFull: true, localConcurrency: 4, pollingIntervalSeconds: 0.5 };
  await boss.work(QUEUE, options, async (batch) => {
    if (!watch.isRunning) watch.begin();
    executed += batch.length;
    for (const job of batch) seen.add(job.id);
    if (executed === jobs) done.resolve(watch.rate(jobs));
  });
  const sample = await done.promise;
  await boss.offWork(QUEUE, { wait: true });
  requireEqual('pg-boss: distinct jobs executed', seen.size, jobs);
  return sample;
}

async function drainSingly({ boss, pid }: BossQueue, jobs: number, lanes: number): Promise<Sample> {
  const seen = new Set<string>();
  const watch = new Stopwatch(pid);
  watch.begin();
  await inLanes(lanes, async () => {
    const [job] = await boss.fetch(QUEUE);
    if (!job) return false;
    seen.add(job.id);
    await boss.complete(QUEUE, job.id);
    return true;
  });
  const sample = watch.rate(jobs);
  requireEqual('pg-boss: distinct jobs executed', seen.size, jobs);
  return sample;
}
