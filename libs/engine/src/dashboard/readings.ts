import { AGENT_OF, type MetricWindowDays, type PipelineMetrics, type State, type TaskType } from '@pipeline/domain';
import {
  type AlertRow,
  agentSpendToday,
  type CostSums,
  durationEstimates,
  type FleetRepo,
  type FloorWorker,
  fleetCosts,
  fleetRepos,
  fleetStateCounts,
  type IssueInFlight,
  issuesInFlight,
  openAlerts,
  openLettersByRepo,
  type QueuedWork,
  queuedWork,
  type StateCount,
  spendByTenant,
  storeNow,
  type TenantSpend,
  workersOnFloor,
  writeQueueByRepo,
} from '@pipeline/store';
import type { Engine } from '../context.ts';
import { readPipelineMetrics } from '../reads/pipeline-metrics.ts';

/** What the parts of a dashboard have in common: rows of one repo. */
export interface OfRepo {
  tenantId: number;
  repoId: number;
}

export const repoKey = ({ tenantId, repoId }: OfRepo): string => `${tenantId}/${repoId}`;

/** Where issues are. Costs the counters, so it may be read every few seconds. */
export interface Counts {
  repos: FleetRepo[];
  counts: StateCount[];
}

export async function readCounts({ store }: Engine): Promise<Counts> {
  return { repos: await fleetRepos(store.fleet), counts: await fleetStateCounts(store.fleet) };
}

/** What is alive: work, workers, letters, writes, alerts; and what was spent. */
export interface Live {
  /** By the clock of the store. */
  now: string;
  work: (QueuedWork & { medianMs: number | null; samples: number })[];
  inFlight: IssueInFlight[];
  workers: FloorWorker[];
  letters: (OfRepo & { n: number })[];
  writes: (OfRepo & { status: 'pending' | 'failed'; count: number })[];
  alerts: AlertRow[];
  costs: CostSums;
  agentSpend: { agent: string; tenant: string; usd: number }[];
  tenants: TenantSpend[];
}

const MAX_ALERTS = 500;

/** Costs what is alive and the events of three days, whatever the history. One read after the other: nobody waits. */
export async function readLive({ store: { fleet }, settings }: Engine): Promise<Live> {
  const work = await queuedWork(fleet);
  return {
    now: await storeNow(fleet),
    work: await withEstimates(fleet, work),
    inFlight: await issuesInFlight(fleet),
    workers: await workersOnFloor(fleet, settings()),
    letters: await openLettersByRepo(fleet),
    writes: await writeQueueByRepo(fleet),
    alerts: await openAlerts(fleet, MAX_ALERTS),
    costs: await fleetCosts(fleet),
    agentSpend: await agentSpendToday(fleet),
    tenants: await spendByTenant(fleet),
  };
}

async function withEstimates(fleet: Engine['store']['fleet'], work: QueuedWork[]): Promise<Live['work']> {
  const key = (of: OfRepo & { agent: string }) => `${repoKey(of)}/${of.agent}`;
  const executor = ({ tenantId, repoId, taskType }: OfRepo & { taskType: TaskType }) => {
    return { tenantId, repoId, agent: AGENT_OF[taskType] };
  };
  const wanted = new Map(work.map((of) => [key(executor(of)), executor(of)]));
  const found = await durationEstimates(fleet, [...wanted.values()]);
  const byKey = new Map(found.map((estimate) => [key(estimate), estimate]));
  return work.map((of) => {
    const estimate = byKey.get(key(executor(of)));
    return { ...of, medianMs: estimate?.medianMs ?? null, samples: estimate?.samples ?? 0 };
  });
}

/** The figures of repos over each window, by the key of the repo. */
export type Figures = Record<MetricWindowDays, ReadonlyMap<string, PipelineMetrics>>;

/** Statements for each enabled repo, one after the other, over what happened in it lately. */
export async function readFigures({ store }: Engine): Promise<Figures> {
  const of = async (days: MetricWindowDays) =>
    new Map((await readPipelineMetrics(store, days)).map((repo) => [repoKey(repo), repo.metrics]));
  return { 7: await of(7), 30: await of(30) };
}

/** Sums up counts of states. */
export const countOf = (counts: readonly StateCount[], states: readonly State[]): number =>
  counts.reduce((sum, { state, n }) => (states.includes(state) ? sum + n : sum), 0);

/** What each repo is told by: its slug, with the tenant where several have one of that name. */
export function namesOf(repos: readonly FleetRepo[]): Map<string, string> {
  const bySlug = Map.groupBy(repos, ({ owner, name }) => `${owner}/${name}`.toLowerCase());
  return new Map(
    repos.map((repo) => {
      const slug = `${repo.owner}/${repo.name}`;
      const isShared = (bySlug.get(slug.toLowerCase())?.length ?? 0) > 1;
      return [repoKey(repo), isShared ? `${slug}@${repo.tenant}` : slug];
    }),
  );
}
