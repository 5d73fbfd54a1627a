import { counter, inLanes, requireEqual } from '../../measure/lanes.ts';
import { Stopwatch } from '../../measure/stopwatch.ts';
import { clearQueue, enqueue } from '../../ours/queue.ts';
import { openOurStore } from '../../ours/store.ts';
import { openGraphile } from '../../peers/graphile.ts';
import { openBoss } from '../../peers/pg-boss.ts';
import type { Bench, Case, Contender, Row } from '../../runner/model.ts';

const LANES = 16;
const BATCH = 1_000;

/** Operations of every contender; ours and the peers' alike. */
interface Enqueuer {
  clear(): Promise<void>;
  add(index: number): Promise<unknown>;
  addBatch(from: number, count: number): Promise<unknown>;
  count(): Promise<number>;
}

/**
 * Goal 5: putting tasks into the queue, all contenders in this process, each into its own empty tables.
 * Batches: 1,000 tasks per call, one call after the other. Single: one task per call, 16 calls in flight.
 * Ours: enqueueTasks of the store, which also gives each task its turn between 200 repos, on 16 connections.
 * Against graphile-worker (addJobs, addJob; its pool of 16) and pg-boss (insert, send; its pool of 18).
 * Checked: as many tasks stand in the tables as were put there.
 */
export const enqueueRow: Row = {
  goal: 5,
  title: 'enqueue',
  async open(bench) {
    const ours = await openOurStore(bench, 'bench_enqueue');
    const contenders = {
      ours: {
        clear: () => clearQueue(ours),
        add: (index: number) => enqueue(ours, index, 1),
        addBatch: (from: number, count: number) => enqueue(ours, from, count),
        count: () => ours.count('tasks'),
      },
      graphile: await openGraphile(bench, 'bench_enqueue_graphile'),
      boss: await openBoss(bench, 'bench_enqueue_boss'),
    };
    return { cases: [batches(bench, contenders), single(bench, contenders)] };
  },
};

type Contenders = Record<'ours' | 'graphile' | 'boss', Enqueuer>;

function batches(bench: Bench, { ours, graphile, boss }: Contenders): Case {
  const tasks = bench.quick ? 5_000 : 40_000;
  const filling = (name: string, queue: Enqueuer): Contender => ({
    name,
    sample: () =>
      measured(bench, { queue, tasks }, async () => {
        for (let from = 0; from < tasks; from += BATCH) await queue.addBatch(from, BATCH);
      }),
  });
  return {
    title: 'enqueue, batches of 1000',
    unit: 'tasks/s',
    ours: filling('ours', ours),
    anchors: [
      { contender: filling('graphile-worker addJobs', graphile), bound: { atLeast: 1.2 } },
      { contender: filling('pg-boss insert', boss), bound: { atLeast: 1.2 } },
    ],
  };
}

function single(bench: Bench, { ours, graphile, boss }: Contenders): Case {
  const tasks = bench.quick ? 1_000 : 4_000;
  const adding = (name: string, queue: Enqueuer): Contender => ({
    name,
    sample: () => {
      const next = counter(tasks);
      return measured(bench, { queue, tasks }, () =>
        inLanes(LANES, async () => {
          const index = next();
          if (index !== undefined) await queue.add(index);
          return index !== undefined;
        }),
      );
    },
  });
  return {
    title: 'enqueue, single x 16',
    unit: 'tasks/s',
    ours: adding('ours', ours),
    anchors: [
      { contender: adding('graphile-worker addJob', graphile), bound: { atLeast: 4 } },
      { contender: adding('pg-boss send', boss), bound: { atLeast: 4 } },
    ],
  };
}

async function measured(
  { server }: Bench,
  { queue, tasks }: { queue: Enqueuer; tasks: number },
  work: () => Promise<void>,
) {
  // Pools drop their connections while others are measured; opening them again is not what is measured here.
  await Promise.all(Array.from({ length: LANES }, (_, lane) => queue.add(lane)));
  await queue.clear();
  const watch = new Stopwatch(server.pid);
  watch.begin();
  await work();
  const sample = watch.rate(tasks);
  requireEqual('tasks in the queue', await queue.count(), tasks);
  return sample;
}
