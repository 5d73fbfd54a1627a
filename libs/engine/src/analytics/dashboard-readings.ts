import {
  AGENT_OF,
  type Alert,
  type MetricWindowDays,
  type PipelineMetrics,
  TASK_TYPES,
  type TaskType,
} from '@pipeline/domain';
import {
  type CostSums,
  durationEstimates,
  type FleetRepo,
  type FloorWorker,
  fleetRepos,
  fleetStateCounts,
  type IssueInFlight,
  issuesInFlight,
  openAlerts,
  openDeadLettersByRepo,
  type QueuedWork,
  queuedWork,
  type StateCount,
  taskTypesThatRan,
  workersOnFloor,
  writeQueueByRepo,
} from '@pipeline/store';
import type { Engine } from '../context/context.ts';
import { tenantBudgets } from '../costs/tenant-budgets.ts';
import { costByWindow, readSpending } from './costs.ts';
import { type OfRepo, repoKey } from './dashboard-repo-names.ts';
import { type ReadTimeline, readTimelines } from './dashboard-timelines.ts';
import { readPipelineMetrics } from './pipeline-metrics.ts';

/** Issues by state. Costs the counters, so it may be read every few seconds. */
export interface Counts {
  repos: FleetRepo[];
  counts: StateCount[];
}

export async function readCounts({ store }: Engine): Promise<Counts> {
  return { repos: await fleetRepos(store.db), counts: await fleetStateCounts(store.db) };
}

/** Live data: tasks, workers, dead letters, host writes, alerts; and costs. */
export interface Live {
  work: (QueuedWork & { medianMs: number | null; samples: number })[];
  inFlight: IssueInFlight[];
  workers: FloorWorker[];
  deadLetters: (OfRepo & { n: number })[];
  writes: (OfRepo & { status: 'pending' | 'failed'; count: number })[];
  alerts: Alert[];
  costs: CostSums;
  /** Since midnight UTC, by repo. */
  agentSpend: { tenantId: number; agent: string; usd: number }[];
  /** Agents with any run or cost, ever, in the order of their task types. */
  agentsThatRan: string[];
  /** Timelines of issues in flight, latest state entry first. */
  timelines: ReadTimeline[];
  budgets: Awaited<ReturnType<typeof tenantBudgets>>;
}

const MAX_ALERTS = 500;
const ALL = { tenantId: null, repoId: null };

/**
 * Cost is proportional to live rows and rollups, not to history. Reads one after the other: no request waits for it.
 */
export async function readLive(engine: Engine): Promise<Live> {
  const { db } = engine.store;
  const work = await queuedWork(db);
  const { rows: spent } = await readSpending(db, ALL);
  return {
    work: await withEstimates(db, work),
    inFlight: await issuesInFlight(db),
    workers: await workersOnFloor(db, engine.settings()),
    deadLetters: await openDeadLettersByRepo(db),
    writes: await writeQueueByRepo(db),
    alerts: await openAlerts(db, MAX_ALERTS),
    costs: costByWindow(spent),
    agentSpend: spent
      .filter(({ span }) => span === 'today')
      .map(({ tenant_id: tenantId, agent, usd }) => ({ tenantId, agent, usd })),
    agentsThatRan: agentsAmong([
      ...spent.map(({ agent }) => agent),
      ...work.filter(({ claimed }) => claimed > 0).map(({ taskType }) => AGENT_OF[taskType]),
      ...(await taskTypesThatRan(db)).map((taskType) => AGENT_OF[taskType]),
    ]),
    timelines: await readTimelines(engine),
    budgets: await tenantBudgets(engine),
  };
}

const AGENTS = [...new Set(TASK_TYPES.map((taskType) => AGENT_OF[taskType]))];
const agentsAmong = (names: readonly string[]): string[] => AGENTS.filter((agent) => names.includes(agent));

async function withEstimates(db: Engine['store']['db'], work: QueuedWork[]): Promise<Live['work']> {
  const key = (of: OfRepo & { agent: string }) => `${repoKey(of)}/${of.agent}`;
  const executor = ({ tenantId, repoId, taskType }: OfRepo & { taskType: TaskType }) => {
    return { tenantId, repoId, agent: AGENT_OF[taskType] };
  };
  const wanted = new Map(work.map((of) => [key(executor(of)), executor(of)]));
  const found = await durationEstimates(db, [...wanted.values()]);
  const byKey = new Map(found.map((estimate) => [key(estimate), estimate]));
  return work.map((of) => {
    const estimate = byKey.get(key(executor(of)));
    return { ...of, medianMs: estimate?.medianMs ?? null, samples: estimate?.samples ?? 0 };
  });
}

/** The figures of repos over each window, by the key of the repo. */
export type Figures = Record<MetricWindowDays, ReadonlyMap<string, PipelineMetrics>>;

/** Statements for each enabled repo, one after the other, over its recent events. */
export async function readFigures({ store }: Engine): Promise<Figures> {
  const of = async (days: MetricWindowDays) =>
    new Map((await readPipelineMetrics(store, days)).map((repo) => [repoKey(repo), repo.metrics]));
  return { 7: await of(7), 30: await of(30) };
}
