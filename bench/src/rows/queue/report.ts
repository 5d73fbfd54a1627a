import { type Sample, totalOf } from '../../measure/sample.ts';
import { openOurStore } from '../../ours/store.ts';
import type { Bench, Row } from '../../runner/model.ts';
import { openHostedApi } from '../../services/hosted-api.ts';
import { type IssueWork, issueWork, makeIssueWork } from './issue-work.ts';

const FEW = 20_000;

/**
 * Goal 15: the report of an outcome, whole, over HTTP, by 16 workers, one request of each in flight. `analyzed` moves
 * its issue from analyzing to planning: in one transaction the issue's row, the transition, its events and the live
 * stream, the task gone and its run closed, the next task with its turn, and two projections. Claims are made before
 * the clock starts, each issue has its own task, over 200 repos. Ours is the hosted API as a process of its own; its
 * anchor is the same rows written by hand in pgbench (`work-sql.ts`), 16 clients in the same tables.
 * Then the cost of a report (CPU of all that took part) among a million issues and their past, and among few.
 * Checked after each sample: as many issues moved, transitions, next tasks, projections and finished runs as reports.
 */
export const reportRow: Row = {
  goal: 15,
  title: 'whole report over HTTP',
  needs: ['pgbench'],
  async open(bench) {
    const issues = bench.quick ? 100_000 : 1_000_000;
    const count = bench.quick ? 1_600 : 2_400;
    const many = await openWork(bench, 'many', { issues, tasks: 60_000 });
    const few = await openWork(bench, 'few', { issues: FEW, tasks: FEW });
    const named = (number: number) => `${number.toLocaleString('en-US')} issues`;
    // The service compiles at first, and its connections plan.
    await many.report.ours(count);
    await few.report.ours(count);
    return {
      cases: [
        {
          title: `whole report over HTTP, ${named(issues)}`,
          unit: 'reports/s',
          ours: { name: 'ours', sample: () => many.report.ours(count) },
          anchors: [
            {
              contender: { name: 'pgbench, same rows', sample: () => many.report.byHand(count) },
              bound: { atLeast: 0.5 },
            },
          ],
        },
        {
          title: `cost of a report, ${named(issues)} / ${named(FEW)}`,
          unit: 'us CPU',
          ours: { name: named(issues), sample: () => costOf(many.report.ours(count)) },
          anchors: [
            {
              contender: { name: named(FEW), sample: () => costOf(few.report.ours(count)) },
              bound: { atMost: 1.15 },
            },
          ],
        },
      ],
    };
  },
};

async function costOf(sampling: Promise<Sample>): Promise<Sample> {
  const { value, cpu } = await sampling;
  return { value: cpu ? totalOf(cpu) : 1e6 / value, cpu };
}

async function openWork(bench: Bench, name: string, size: { issues: number; tasks: number }): Promise<IssueWork> {
  const ours = await openOurStore(bench, `bench_report_${name}`);
  await makeIssueWork(bench, ours, size);
  return issueWork(bench, ours, await openHostedApi(bench, ours, `hosted-api-${name}`));
}
