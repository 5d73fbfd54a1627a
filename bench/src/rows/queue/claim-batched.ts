import { type OurStore, openOurStore } from '../../ours/store.ts';
import { openGraphile } from '../../peers/graphile.ts';
import { openBoss } from '../../peers/pg-boss.ts';
import type { Fact, Row } from '../../runner/model.ts';
import { openHostedApi } from '../../services/hosted-api.ts';
import { workOverHttp } from './work-over-http.ts';

const SLOTS = 4;

/**
 * Goal 6: claims that arrive together. 16 workers with 4 slots each claim and complete tasks over HTTP, no work between; the
 * hosted API, a process of its own, batches concurrent claims. Against graphile-worker as its manual tunes it for high
 * throughput (local queue of 500, batched completion, 24 jobs at a time) and pg-boss workers (4 of 500), both in this process
 * and without HTTP, authentication, runs and events.
 * Checked: every task is claimed once and none is left; one finished run and one event each; no deadlock, as the server counts them.
 */
export const claimBatchedRow: Row = {
  goal: 6,
  title: 'claim and complete, workers with slots',
  async open(bench) {
    const tasks = bench.quick ? 2_000 : 8_000;
    const ours = await openOurStore(bench, 'bench_batched');
    const workers = await openHostedApi(bench, ours, 'hosted-api-slots', SLOTS);
    const graphile = await openGraphile(bench, 'bench_batched_graphile');
    const boss = await openBoss(bench, 'bench_batched_boss');
    return {
      cases: [
        {
          title: `claim+complete over HTTP, 16 workers x ${SLOTS} slots`,
          unit: 'tasks/s',
          ours: { name: 'ours', sample: () => workOverHttp(ours, workers, { tasks, slots: SLOTS }) },
          anchors: [
            {
              contender: { name: 'graphile-worker at its best', sample: () => graphile.work(tasks, 'documented best') },
              bound: { atLeast: 0.6 },
            },
            { contender: { name: 'pg-boss work', sample: () => boss.workInBatches(tasks) }, bound: { atLeast: 0.85 } },
          ],
        },
      ],
      facts: async () => [await deadlocks(ours)],
    };
  },
};

async function deadlocks({ admin }: OurStore): Promise<Fact> {
  // The counters of the server lag behind by up to a second, until a session flushes its own.
  await admin.query('select pg_sleep(1.5)');
  const { rows } = await admin.query<{ n: number }>(
    'select deadlocks::int as n from pg_stat_database where datname = current_database()',
  );
  return {
    title: 'deadlocks during the claims',
    value: rows[0]?.n ?? Number.NaN,
    unit: 'deadlocks',
    bound: { atMost: 0 },
  };
}
