import { randomUUID } from 'node:crypto';
import type { Outcome } from '@pipeline/domain';
import { claimTasks } from '@pipeline/store';
import { counter, inLanes, requireEqual } from '../../measure/lanes.ts';
import { type Sample, totalOf } from '../../measure/sample.ts';
import { Stopwatch } from '../../measure/stopwatch.ts';
import { makeHistory } from '../../ours/history.ts';
import { hashOf } from '../../ours/queue.ts';
import { type OurStore, openOurStore } from '../../ours/store.ts';
import { openGraphile } from '../../peers/graphile.ts';
import type { Bench, Row } from '../../runner/model.ts';
import { openHostedApi } from '../../services/hosted-api.ts';
import { type Held, LANES, type WorkerLoad } from '../../services/worker-load.ts';

const OUTCOME: Outcome = { outcome: 'analyzed', result: { summary: 'It is a small change.' } };
const LEASE_MS = 600_000;
const FEW = 10_000;

/**
 * Goal 15: the report of an outcome, whole, over HTTP, by 16 workers, one request of each in flight. `analyzed` moves
 * its issue from analyzing to planning: in one transaction the issue's row, the transition, two events and the live
 * stream, the task gone and its run closed, the next task with its turn, and two projections. Claims are made before
 * the clock starts, each issue has its own task, over 200 repos. Ours is the hosted API as a process of its own; its
 * anchor, graphile-worker's defaults with 16 jobs at a time, fetches and completes empty jobs in this process.
 * Then the cost of a report (CPU of all that took part) among a million issues and their past, and among ten thousand.
 * Checked after each sample: as many issues moved, transitions, next tasks, projections and finished runs as reports.
 */
export const reportRow: Row = {
  goal: 15,
  title: 'whole report over HTTP',
  async open(bench) {
    const issues = bench.quick ? 100_000 : 1_000_000;
    const reports = bench.quick ? 300 : 700;
    const many = await openReports(bench, 'many', issues);
    const few = await openReports(bench, 'few', FEW);
    const graphile = await openGraphile(bench, 'bench_report_graphile');
    const named = (count: number) => `${count.toLocaleString('en-US')} issues`;
    const cost = async (reporting: Reporting): Promise<Sample> => {
      const { value, cpu } = await reporting(reports);
      return { value: cpu ? totalOf(cpu) : 1e6 / value, cpu };
    };
    return {
      cases: [
        {
          title: `whole report over HTTP, ${named(issues)}`,
          unit: 'reports/s',
          ours: { name: 'ours', sample: () => many(reports) },
          anchors: [
            {
              contender: { name: 'graphile-worker defaults', sample: () => graphile.work(reports * 4, 'defaults') },
              bound: { atLeast: 0.6 },
            },
          ],
        },
        {
          title: `cost of a report, ${named(issues)} / ${named(FEW)}`,
          unit: 'us CPU',
          ours: { name: named(issues), sample: () => cost(many) },
          anchors: [{ contender: { name: named(FEW), sample: () => cost(few) }, bound: { atMost: 1.15 } }],
        },
      ],
    };
  },
};

type Reporting = (reports: number) => Promise<Sample>;

async function openReports(bench: Bench, name: string, issues: number): Promise<Reporting> {
  const ours = await openOurStore(bench, `bench_report_${name}`);
  bench.say(`making ${issues.toLocaleString('en-US')} issues`);
  await makeHistory(ours, issues, FEW);
  const workers = await openHostedApi(bench, ours, `hosted-api-${name}`);
  return async (reports) => {
    const claims = await claimAll(ours, workers, reports);
    const before = await traces(ours);
    const sample = await reportAll(ours, workers, claims);
    const after = await traces(ours);
    for (const [what, count] of Object.entries(after)) {
      requireEqual(`${name}: ${what}`, count - (before[what] ?? 0), claims.length * (PER_REPORT[what] ?? 1));
    }
    return sample;
  };
}

/** Each worker gets its share; the claims of all workers alternate in the list. */
async function claimAll({ store, tenantId }: OurStore, { workerIds }: WorkerLoad, count: number): Promise<Held[]> {
  const claims: (Held & { place: number })[] = [];
  for (const [lane, workerId] of workerIds.entries()) {
    const share = Math.floor(count / LANES) + (lane < count % LANES ? 1 : 0);
    const tokens = new Map(Array.from({ length: share }, () => randomUUID()).map((token) => [hashOf(token), token]));
    const claimers = [...tokens.keys()].map((tokenHash) => ({ workerId, tokenHash }));
    const input = { taskTypes: ['analyze'], repoIds: null, claimers, leaseMs: LEASE_MS };
    for (const [place, { id, claim_token_hash }] of (await claimTasks(store.tenant, tenantId, input)).entries()) {
      claims.push({ id, claimToken: tokens.get(claim_token_hash) ?? '', place });
    }
  }
  requireEqual('tasks claimed', claims.length, count);
  return claims.sort((a, b) => a.place - b.place);
}

async function reportAll(ours: OurStore, workers: WorkerLoad, claims: readonly Held[]): Promise<Sample> {
  const next = counter(claims.length);
  const watch = new Stopwatch(ours.pid);
  watch.begin();
  await inLanes(LANES, async () => {
    const claim = claims[next() ?? claims.length];
    if (!claim) return false;
    const state = await workers.complete(claim, OUTCOME);
    if (state !== 'planning') throw new Error(`an issue that was analyzed is in state ${state}`);
    return true;
  });
  return watch.rate(claims.length);
}

/** How many of a trace one report leaves, where it is not one. */
const PER_REPORT: Record<string, number> = { 'projections to send': 2 };

async function traces(ours: OurStore): Promise<Record<string, number>> {
  return {
    'issues that moved': await ours.count(`issues where state = 'planning'`),
    transitions: await ours.count(`transitions where to_state = 'planning'`),
    'next tasks': await ours.count(`tasks where task_type = 'plan' and status = 'pending'`),
    'projections to send': await ours.count(`projections where status = 'pending'`),
    'finished runs': await ours.count(`runs where outcome = 'analyzed' and report_answer is not null`),
    'events of the stream': await ours.count(`stream_outbox where event_type = 'state-transition'`),
  };
}
