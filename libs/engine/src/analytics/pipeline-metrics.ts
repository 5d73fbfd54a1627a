import {
  AGENT_OF,
  estimateOf,
  formatSlug,
  type MetricWindowDays,
  type PipelineMetrics,
  pipelineMetricsOf,
  projectedDrainMs,
  utcMidnight,
} from '@pipeline/domain';
import {
  durationEstimates,
  enabledRepos,
  type QueuedWork,
  queuedWork,
  type RepoRow,
  repoFigures,
  type Store,
  storeNow,
} from '@pipeline/store';

/** The metrics of a repo; two tenants may have repos of the same name. */
export interface RepoMetrics {
  tenantId: number;
  repoId: number;
  metrics: PipelineMetrics;
}

/**
 * The metrics of every enabled repo over the last 7 or 30 days. One statement per repo, one after the other: for loops,
 * not for requests.
 */
export async function readPipelineMetrics(store: Store, windowDays: MetricWindowDays): Promise<RepoMetrics[]> {
  const drains = await drainsByRepo(store);
  const dayStart = utcMidnight(new Date(await storeNow(store.db))).toISOString();
  const all: RepoMetrics[] = [];
  for (const repo of await enabledRepos(store.db)) {
    const figures = await repoFigures(store.db, keyOf(repo), { windowDays, dayStart });
    const of = { repo: formatSlug(repo), windowDays, projectedDrainMs: drains.get(repo.id) ?? null };
    all.push({ ...keyOf(repo), metrics: pipelineMetricsOf(of, figures) });
  }
  return all;
}

const keyOf = ({ tenant_id, id }: RepoRow) => ({ tenantId: tenant_id, repoId: id });

/** Returns the time to drain the queue by repo id, for repos with an estimate for any waiting task; milliseconds. */
async function drainsByRepo(store: Store): Promise<Map<number, number>> {
  const work = (await queuedWork(store.db)).filter(({ pending }) => pending > 0);
  const estimates = await durationEstimates(store.db, work.map(executorOf));
  const known = new Map(estimates.map((found) => [`${found.repoId}/${found.agent}`, estimateOf(found)]));
  const estimated = (of: QueuedWork) => known.get(`${of.repoId}/${AGENT_OF[of.taskType]}`) ?? null;
  const drains = [...Map.groupBy(work, ({ repoId }) => repoId)].map(([repoId, groups]) => {
    const waiting = groups.map((group) => ({ pending: group.pending, estimatedDurationMs: estimated(group) }));
    return [repoId, projectedDrainMs(waiting)] as const;
  });
  return new Map(drains.flatMap(([repoId, ms]) => (ms === null ? [] : [[repoId, ms] as const])));
}

const executorOf = ({ tenantId, repoId, taskType }: QueuedWork) => ({ tenantId, repoId, agent: AGENT_OF[taskType] });
