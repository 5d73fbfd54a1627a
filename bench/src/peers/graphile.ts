import { sleep } from '@pipeline/runtime';
import { type AddJobsJobSpec, Logger, makeWorkerUtils, run } from 'graphile-worker';
import pg from 'pg';
import { requireEqual } from '../measure/lanes.ts';
import type { Sample } from '../measure/sample.ts';
import { Stopwatch } from '../measure/stopwatch.ts';
import type { Bench } from '../runner/model.ts';

const TASK = 'noop';
const SILENT = new Logger(() => () => undefined);
const BATCH = 1_000;
const POLL_MS = 20;
const DELETED_WITHIN_MS = 10_000;

/** Tuning of its workers: `defaults` with 16 jobs at a time, or what its manual says of high throughput. */
type Tuning = 'defaults' | 'documented best';

const WORKER_OPTIONS: Record<Tuning, GraphileConfig.WorkerOptions> = {
  defaults: { concurrentJobs: 16, maxPoolSize: 18 },
  'documented best': {
    concurrentJobs: 24,
    maxPoolSize: 25,
    localQueue: { size: 500 },
    completeJobBatchDelay: 0,
    failJobBatchDelay: 0,
  },
};

/** graphile-worker in this process, on a database of its own. It deletes finished jobs. */
export interface Graphile {
  clear(): Promise<void>;
  add(index: number): Promise<unknown>;
  addBatch(from: number, count: number): Promise<unknown>;
  count(): Promise<number>;
  /** Works off so many jobs. The clock runs from the first job to the last one, its own start-up not counted. */
  work(jobs: number, tuning: Tuning): Promise<Sample>;
}

export async function openGraphile(bench: Bench, name: string): Promise<Graphile> {
  const connectionString = await bench.server.emptyDatabase(name);
  const pool = new pg.Pool({ connectionString, max: 16 });
  const utils = await makeWorkerUtils({ pgPool: pool, logger: SILENT });
  bench.stack.add('graphile-worker', async () => {
    await utils.release();
    await pool.end();
  });
  await utils.migrate();
  const spec = (index: number): AddJobsJobSpec => ({ identifier: TASK, payload: { index } });
  const count = async () => {
    const { rows } = await pool.query<{ n: number }>('select count(*)::int as n from graphile_worker.jobs');
    return rows[0]?.n ?? 0;
  };
  const api: Omit<Graphile, 'work'> = {
    clear: async () => void (await pool.query('truncate graphile_worker._private_jobs')),
    add: (index) => utils.addJob(TASK, { index }),
    addBatch: (from, size) => utils.addJobs(Array.from({ length: size }, (_, at) => spec(from + at))),
    count,
  };
  return {
    ...api,
    async work(jobs, tuning) {
      await api.clear();
      for (let from = 0; from < jobs; from += BATCH) await api.addBatch(from, Math.min(BATCH, jobs - from));
      return drain({ connectionString, jobs, tuning, pid: bench.server.pid, count });
    },
  };
}

interface Work {
  connectionString: string;
  jobs: number;
  tuning: Tuning;
  pid: number;
  count(): Promise<number>;
}

async function drain(of: Work): Promise<Sample> {
  const watch = new Stopwatch(of.pid);
  const done = Promise.withResolvers<Sample>();
  const seen = new Set<number>();
  let executed = 0;
  const noop = (payload: unknown) => {
    if (!watch.isRunning) watch.begin();
    executed += 1;
    seen.add((payload as { index: number }).index);
    if (executed === of.jobs) done.resolve(watch.rate(of.jobs));
  };
  const runner = await run({
    taskList: { [TASK]: noop },
    parsedCronItems: [],
    noHandleSignals: true,
    logger: SILENT,
    preset: { worker: { ...WORKER_OPTIONS[of.tuning], connectionString: of.connectionString } },
  });
  // It ends only when stopped; an end before that is a failure.
  runner.promise.then(
    () => done.reject(new Error('graphile-worker stopped unexpectedly')),
    (error: unknown) => done.reject(error),
  );
  try {
    const sample = await done.promise;
    await noneLeft(of);
    return sample;
  } finally {
    await runner.stop();
    requireEqual('graphile-worker: distinct jobs executed', seen.size, of.jobs);
    requireEqual('graphile-worker: executions', executed, of.jobs);
  }
}

/** The last jobs are deleted after they were executed, which is when the clock stopped. */
async function noneLeft({ count }: Work): Promise<void> {
  for (let waited = 0; (await count()) > 0; waited += POLL_MS) {
    if (waited > DELETED_WITHIN_MS) throw new Error(`graphile-worker: ${await count()} jobs were not deleted`);
    await sleep(POLL_MS);
  }
}
