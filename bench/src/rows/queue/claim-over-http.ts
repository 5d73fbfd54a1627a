import { openOurStore } from '../../ours/store.ts';
import { openGraphile } from '../../peers/graphile.ts';
import { openHandSql } from '../../peers/hand-sql.ts';
import { openBoss } from '../../peers/pg-boss.ts';
import type { Row } from '../../runner/model.ts';
import { openHostedApi } from '../../services/hosted-api.ts';
import { LANES } from '../../services/worker-load.ts';
import { workOverHttp } from './work-over-http.ts';

/**
 * Goal 7: one task at a time, claimed and completed, 16 workers. Ours goes over HTTP to the hosted API as a process of
 * its own, with authentication, validation, access log, run, event and report; its anchors run in this process:
 * graphile-worker's defaults with 16 jobs at a time, pg-boss fetch and complete in 16 lanes, and two statements
 * written by hand in 16 lanes. No work is done between claim and completion.
 * Checked: every task is given out once and none is left; one finished run and one event each.
 */
export const claimOverHttpRow: Row = {
  goal: 7,
  title: 'claim and complete over HTTP',
  async open(bench) {
    const tasks = bench.quick ? 1_000 : 4_000;
    const ours = await openOurStore(bench, 'bench_http');
    const workers = await openHostedApi(bench, ours, 'hosted-api');
    const graphile = await openGraphile(bench, 'bench_http_graphile');
    const boss = await openBoss(bench, 'bench_http_boss');
    const hand = await openHandSql(bench, 'bench_http_hand');
    return {
      cases: [
        {
          title: 'claim+complete over HTTP, 16 workers',
          unit: 'tasks/s',
          ours: { name: 'ours', sample: () => workOverHttp(ours, workers, { tasks, slots: 1 }) },
          anchors: [
            { contender: { name: 'hand SQL', sample: () => hand.workSingly(tasks, LANES) }, bound: { atLeast: 0.75 } },
            {
              contender: { name: 'graphile-worker defaults', sample: () => graphile.work(tasks, 'defaults') },
              bound: { atLeast: 1 },
            },
            {
              contender: { name: 'pg-boss fetch+complete', sample: () => boss.workSingly(tasks, LANES) },
              bound: { atLeast: 1.7 },
            },
          ],
        },
      ],
    };
  },
};
