import { inLanes } from '../../measure/lanes.ts';
import type { Sample } from '../../measure/sample.ts';
import { Stopwatch } from '../../measure/stopwatch.ts';
import { ClaimLog, claimBatch, clearQueue, fillQueue, finishBatch, requireAllWorkedOff } from '../../ours/queue.ts';
import { type OurStore, openOurStore } from '../../ours/store.ts';
import { openGraphile } from '../../peers/graphile.ts';
import { openBoss } from '../../peers/pg-boss.ts';
import type { Bench, Fact, Row } from '../../runner/model.ts';

const CLAIMERS = 4;
const BATCH = 500;
/** Small batches make many statements, and so many chances to meet. */
const SMALL_BATCH = 10;

/**
 * Goal 6: tasks claimed and completed in batches, no work between, all contenders in this process.
 * Ours: the store's claimTasks with 500 tokens and finishTasks, two statements, 4 claimers; each claim also writes its
 * run and its event, each end its report. Against graphile-worker as its manual tunes it for high throughput (local
 * queue of 500, batched completion, 24 jobs at a time) and pg-boss workers (4 of 500).
 * Checked: nothing is claimed twice, nothing is left, as many runs and events as tasks; and no deadlock in 10,000
 * statements of small batches, as the server counts them.
 */
export const claimBatchedRow: Row = {
  goal: 6,
  title: 'claim and complete, batched',
  async open(bench) {
    const tasks = bench.quick ? 10_000 : 40_000;
    const ours = await openOurStore(bench, 'bench_batched');
    const graphile = await openGraphile(bench, 'bench_batched_graphile');
    const boss = await openBoss(bench, 'bench_batched_boss');
    return {
      cases: [
        {
          title: 'claim+complete, 4 x 500',
          unit: 'tasks/s',
          ours: { name: 'ours', sample: () => workOff(ours, tasks, BATCH) },
          anchors: [
            {
              contender: { name: 'graphile-worker at its best', sample: () => graphile.work(tasks, 'documented best') },
              bound: { atLeast: 1.7 },
            },
            { contender: { name: 'pg-boss work', sample: () => boss.workInBatches(tasks) }, bound: { atLeast: 2.4 } },
          ],
        },
      ],
      facts: async () => [await deadlocks(bench, ours)],
    };
  },
};

async function workOff(ours: OurStore, tasks: number, batch: number): Promise<Sample> {
  await clearQueue(ours);
  await fillQueue(ours, tasks);
  const log = new ClaimLog();
  const watch = new Stopwatch(ours.pid);
  watch.begin();
  await inLanes(CLAIMERS, async () => {
    const claims = await claimBatch(ours, batch);
    log.add(claims);
    if (claims.length > 0) await finishBatch(ours, claims);
    return claims.length > 0;
  });
  const sample = watch.rate(tasks);
  await requireAllWorkedOff(ours, log.size, tasks);
  return sample;
}

async function deadlocks(bench: Bench, ours: OurStore): Promise<Fact> {
  const statements = bench.quick ? 2_000 : 10_000;
  await workOff(ours, (statements / 2) * SMALL_BATCH, SMALL_BATCH);
  // The server's counters lag behind by up to a second; a session that asks for a flush sees its own only.
  await ours.admin.query('select pg_sleep(1.5)');
  const { rows } = await ours.admin.query<{ n: number }>(
    'select deadlocks::int as n from pg_stat_database where datname = current_database()',
  );
  const title = `deadlocks in ${statements.toLocaleString('en-US')} statements, 4 x ${SMALL_BATCH}`;
  return { title, value: rows[0]?.n ?? Number.NaN, unit: 'deadlocks', bound: { atMost: 0 } };
}
