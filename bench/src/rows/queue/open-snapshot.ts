import { sleep } from '@pipeline/runtime';
import pg from 'pg';
import { inLanes } from '../../measure/lanes.ts';
import type { Sample } from '../../measure/sample.ts';
import { Stopwatch } from '../../measure/stopwatch.ts';
import { ClaimLog, claimBatch, clearQueue, fillQueue, removeClaimed } from '../../ours/queue.ts';
import { type OurStore, openOurStore } from '../../ours/store.ts';
import type { Bench, Case } from '../../runner/model.ts';

const CLAIMERS = 4;

/**
 * The second half of goal 8: tasks claimed and removed one by one, 4 claimers, counted for two seconds after eight
 * seconds of the same work, while a transaction of another session holds its snapshot open from the beginning, and
 * without it. The snapshot keeps vacuum, and every scan, from taking away the index entries of finished tasks.
 */
export async function openSnapshotCase(bench: Bench): Promise<Case> {
  const ours = await openOurStore(bench, 'bench_snapshot');
  const plan = bench.quick
    ? { tasks: 50_000, beforeMs: 4_000, countedMs: 1_000 }
    : { tasks: 200_000, beforeMs: 8_000, countedMs: 2_000 };
  return {
    title: `claim after ${plan.beforeMs / 1_000} s of an open snapshot / without`,
    unit: 'tasks/s',
    ours: { name: 'with snapshot', sample: () => withSnapshot(ours, () => workFor(ours, plan)) },
    anchors: [{ contender: { name: 'without', sample: () => workFor(ours, plan) }, bound: { atLeast: 0.7 } }],
  };
}

interface Plan {
  tasks: number;
  beforeMs: number;
  countedMs: number;
}

async function workFor(ours: OurStore, { tasks, beforeMs, countedMs }: Plan): Promise<Sample> {
  await clearQueue(ours);
  await fillQueue(ours, tasks);
  const log = new ClaimLog();
  const watch = new Stopwatch(ours.pid);
  let stopped = false;
  const working = inLanes(CLAIMERS, async () => {
    const claims = await claimBatch(ours, 1);
    log.add(claims);
    await removeClaimed(ours, claims);
    return !stopped && claims.length > 0;
  });
  await sleep(beforeMs);
  const before = log.size;
  watch.begin();
  await sleep(countedMs);
  const sample = watch.rate(log.size - before);
  stopped = true;
  await working;
  if (log.size === tasks) throw new Error('the queue ran empty: the rate means nothing');
  return sample;
}

/** The queue is emptied and filled before the snapshot is taken: a snapshot outlives no truncate. */
async function withSnapshot(ours: OurStore, work: () => Promise<Sample>): Promise<Sample> {
  const reader = new pg.Client({ connectionString: ours.url, options: '-c search_path=pipeline,public' });
  await reader.connect();
  try {
    await reader.query('begin isolation level repeatable read');
    await reader.query('select 1 from repos limit 1');
    return await work();
  } finally {
    await reader.end();
  }
}
