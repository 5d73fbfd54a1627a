import { openOurStore } from '../../ours/store.ts';
import { openDbos } from '../../peers/dbos.ts';
import { openGraphile } from '../../peers/graphile.ts';
import { openBoss } from '../../peers/pg-boss.ts';
import type { Row } from '../../runner/model.ts';
import { openHostedApi } from '../../services/hosted-api.ts';
import { LANES } from '../../services/worker-load.ts';
import { issueWork, makeIssueWork } from './issue-work.ts';

/**
 * Goal 7: claims, and claims with their reports, of 16 workers, over HTTP to the hosted API as a process of its own: with
 * authentication, validation, payload and access log. Against the same rows written by hand (`work-sql.ts`) in pgbench, 16
 * clients in the same tables; claims with their reports also against workflows of two steps of DBOS Transact, jobs of
 * graphile-worker's defaults, and fetch and complete of pg-boss, all 16 at a time in this process.
 * Checked after each sample, ours and by hand: the rows that a claim or a report leaves in each table.
 */
export const claimOverHttpRow: Row = {
  goal: 7,
  title: 'claim and report over HTTP',
  needs: ['pgbench'],
  async open(bench) {
    const count = bench.quick ? 1_600 : 2_400;
    const ours = await openOurStore(bench, 'bench_claims');
    await makeIssueWork(bench, ours, { issues: 100_000, tasks: 100_000 });
    const work = issueWork(bench, ours, await openHostedApi(bench, ours, 'hosted-api-claims'));
    const dbos = await openDbos(bench, 'bench_claims_dbos');
    const graphile = await openGraphile(bench, 'bench_claims_graphile');
    const boss = await openBoss(bench, 'bench_claims_boss');
    await work.claimAndReport.ours(count);
    return {
      cases: [
        {
          title: 'claim over HTTP, 16 workers',
          unit: 'tasks/s',
          ours: { name: 'ours', sample: () => work.claim.ours(count) },
          anchors: [
            {
              contender: { name: 'pgbench, same rows', sample: () => work.claim.byHand(count) },
              bound: { atLeast: 0.5 },
            },
          ],
        },
        {
          title: 'claim and report over HTTP, 16 workers',
          unit: 'tasks/s',
          ours: { name: 'ours', sample: () => work.claimAndReport.ours(count) },
          anchors: [
            {
              contender: { name: 'pgbench, same rows', sample: () => work.claimAndReport.byHand(count) },
              bound: { atLeast: 0.5 },
            },
            { contender: { name: 'DBOS, two steps', sample: () => dbos.work(count) }, bound: { atLeast: 1.5 } },
            // They write less than a claim and a report do, and show what a bare queue costs.
            { contender: { name: 'graphile-worker defaults', sample: () => graphile.work(count, 'defaults') } },
            { contender: { name: 'pg-boss fetch+complete', sample: () => boss.workSingly(count, LANES) } },
          ],
        },
      ],
    };
  },
};
