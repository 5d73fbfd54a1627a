import { randomUUID } from 'node:crypto';
import type { Outcome } from '@pipeline/domain';
import { claimTasks, MAX_CLAIMERS } from '@pipeline/store';
import { counter, inLanes, requireEqual } from '../../measure/lanes.ts';
import { pgbenchTimes } from '../../measure/pgbench.ts';
import type { Sample } from '../../measure/sample.ts';
import { Stopwatch } from '../../measure/stopwatch.ts';
import { makeHistory } from '../../ours/history.ts';
import { hashOf } from '../../ours/queue.ts';
import type { OurStore } from '../../ours/store.ts';
import { claimAndReportScript, claimScript, reportScript } from '../../peers/work-sql.ts';
import type { Bench } from '../../runner/model.ts';
import { type Held, LANES, type WorkerLoad } from '../../services/worker-load.ts';

const OUTCOME: Outcome = { outcome: 'analyzed', result: { summary: 'It is a small change.' } };
const LEASE_MS = 600_000;

/** Claims and reports of `analyze` tasks of issues, by the hosted API or by hand. `count` is a multiple of 16. */
export interface IssueWork {
  claim: Way;
  claimAndReport: Way;
  report: Way;
}

interface Way {
  /** Over HTTP: 16 workers, one request of each in flight. */
  ours(count: number): Promise<Sample>;
  /** The same rows by pgbench, 16 clients, in the same tables. */
  byHand(count: number): Promise<Sample>;
}

/** Makes many issues with their past, `tasks` of which have a task, and the workers that work by hand. */
export async function makeIssueWork(
  bench: Bench,
  ours: OurStore,
  { issues, tasks }: { issues: number; tasks: number },
): Promise<void> {
  bench.say(`making ${issues.toLocaleString('en-US')} issues`);
  await makeHistory(ours, issues, tasks);
  await ours.admin.query(
    `insert into workers (tenant_id, id, name, hostname, version, repos, task_types, labels, status, registered_at)
     select $1, 'hand-' || n, 'hand-' || n, '', '', '{}', '{analyze}', '{}', 'idle', now()
     from generate_series(0, $2::int - 1) n`,
    [ours.tenantId, LANES],
  );
}

/** @param workers of the hosted API, a process of its own over these issues. */
export function issueWork(bench: Bench, ours: OurStore, workers: WorkerLoad): IssueWork {
  const { tenantId } = ours;
  const name = new URL(ours.url).pathname.slice(1);
  const byHand = (script: string, count: number) =>
    pgbenchTimes(
      ours,
      { workDir: bench.workDir, name: `${name}-by-hand`, clients: LANES, times: count / LANES },
      script,
    );
  const checked = (count: number, traces: Traces, work: () => Promise<Sample>) =>
    withTraces(ours, { count, traces }, work);
  return {
    claim: {
      ours: (count) => endingClaims(ours, () => checked(count, CLAIMED, () => claimAll(ours, workers, count))),
      byHand: (count) => endingClaims(ours, () => checked(count, CLAIMED, () => byHand(claimScript(tenantId), count))),
    },
    claimAndReport: {
      ours: (count) => checked(count, REPORTED, () => claimAndReportAll(ours, workers, count)),
      byHand: (count) => checked(count, REPORTED, () => byHand(claimAndReportScript(tenantId), count)),
    },
    report: {
      async ours(count) {
        const claims = await prepareClaims(ours, workers.workerIds, [...tokens(count)]);
        return checked(count, REPORTED, () => reportAll(ours, workers, claims));
      },
      async byHand(count) {
        const prefix = `${randomUUID()}-`;
        const hashes = Array.from({ length: count }, (_, n) => `${prefix}${n}`);
        const hands = Array.from({ length: LANES }, (_, n) => `hand-${n}`);
        await prepareClaims(
          ours,
          hands,
          hashes.map((hash) => ({ token: '', hash })),
        );
        return checked(count, REPORTED, () => byHand(reportScript(tenantId, prefix, count / LANES), count));
      },
    },
  };
}

interface Token {
  token: string;
  hash: string;
}

const tokens = (count: number): Token[] =>
  Array.from({ length: count }, () => randomUUID()).map((token) => ({ token, hash: hashOf(token) }));

/** Claims made before the clock starts; those of all workers alternate. */
async function prepareClaims(
  { store, tenantId }: OurStore,
  workerIds: readonly string[],
  all: readonly Token[],
): Promise<Held[]> {
  const known = new Map(all.map(({ hash, token }) => [hash, token]));
  const claims: (Held & { place: number })[] = [];
  for (const [lane, workerId] of workerIds.entries()) {
    const share = all.slice((lane * all.length) / LANES, ((lane + 1) * all.length) / LANES);
    for (let place = 0; place < share.length; place += MAX_CLAIMERS) {
      const claimers = share
        .slice(place, place + MAX_CLAIMERS)
        .map(({ hash }) => ({ workerId, tokenId: null, tokenHashes: [hash] }));
      const input = { taskTypes: ['analyze'], repoIds: null, claimers, leaseMs: LEASE_MS, isOpen: true };
      const claimed = await claimTasks(store.db, tenantId, input);
      for (const [at, { task }] of claimed.entries()) {
        if (!task) continue;
        const { id, claim_token_hash } = task;
        claims.push({ id, claimToken: known.get(claim_token_hash) ?? '', place: place + at });
      }
    }
  }
  requireEqual('tasks claimed', claims.length, all.length);
  return claims.sort((a, b) => a.place - b.place);
}

/** Runs each piece of work once, 16 at a time. @returns their rate. */
async function measured(
  { pid }: OurStore,
  count: number,
  work: (n: number, lane: number) => Promise<void>,
): Promise<Sample> {
  const next = counter(count);
  const watch = new Stopwatch(pid);
  watch.begin();
  await inLanes(LANES, async (lane) => {
    const n = next();
    if (n !== undefined) await work(n, lane);
    return n !== undefined;
  });
  return watch.rate(count);
}

async function claimOne(workers: WorkerLoad, lane: number): Promise<Held> {
  const claim = await workers.claim(lane, ['analyze']);
  if (!claim) throw new Error('there was no task to claim');
  return claim;
}

async function reportOne(workers: WorkerLoad, claim: Held): Promise<void> {
  const state = await workers.complete(claim, OUTCOME);
  if (state !== 'planning') throw new Error(`an issue that was analyzed is in state ${state}`);
}

const claimAll = (ours: OurStore, workers: WorkerLoad, count: number) =>
  measured(ours, count, async (_, lane) => void (await claimOne(workers, lane)));

const claimAndReportAll = (ours: OurStore, workers: WorkerLoad, count: number) =>
  measured(ours, count, async (_, lane) => reportOne(workers, await claimOne(workers, lane)));

const reportAll = (ours: OurStore, workers: WorkerLoad, claims: readonly Held[]) =>
  measured(ours, claims.length, async (n) => {
    const claim = claims[n];
    if (claim) await reportOne(workers, claim);
  });

/** Removes the tasks that were claimed, and their runs, so that the next sample finds none. */
async function endingClaims({ admin }: OurStore, work: () => Promise<Sample>): Promise<Sample> {
  const sample = await work();
  await admin.query(`delete from runs where status = 'claimed'`);
  await admin.query(`delete from tasks where status = 'claimed'`);
  return sample;
}

/** Rows that each piece of work leaves. */
type Traces = Readonly<Record<string, { rows: string; each: number }>>;

const CLAIMED: Traces = {
  'claimed tasks': { rows: `tasks where status = 'claimed'`, each: 1 },
  'open runs': { rows: `runs where status = 'claimed'`, each: 1 },
  'claim events': { rows: `pipeline_events where event_type = 'task_claimed'`, each: 1 },
  'rows of the list that show the agent': {
    rows: `issue_list where body::jsonb ->> 'assignedAgent' = 'analyzer'`,
    each: 1,
  },
};

const REPORTED: Traces = {
  'issues that moved': { rows: `issues where state = 'planning'`, each: 1 },
  'rows of the list that moved': { rows: `issue_list where state = 'planning'`, each: 1 },
  transitions: { rows: `transitions where to_state = 'planning'`, each: 1 },
  'events of issues': { rows: `issue_events where state = 'planning'`, each: 1 },
  'events of the pipeline': {
    rows: `pipeline_events where event_type in ('task_completed', 'task_enqueued')`,
    each: 2,
  },
  'next tasks': { rows: `tasks where task_type = 'plan' and status = 'pending'`, each: 1 },
  'projections to send': { rows: `projections where status = 'pending'`, each: 2 },
  'finished runs': { rows: `runs where outcome = 'analyzed' and report_answer is not null`, each: 1 },
  'events of the stream': { rows: `stream_outbox where event_type = 'state-transition'`, each: 1 },
};

/** @throws Error when the work left another number of rows. */
async function withTraces(
  ours: OurStore,
  { count, traces }: { count: number; traces: Traces },
  work: () => Promise<Sample>,
): Promise<Sample> {
  const counts = () => Promise.all(Object.values(traces).map(({ rows }) => ours.count(rows)));
  const before = await counts();
  const sample = await work();
  const after = await counts();
  for (const [at, [what, { each }]] of Object.entries(traces).entries()) {
    requireEqual(what, (after[at] ?? 0) - (before[at] ?? 0), count * each);
  }
  return sample;
}
