import { normalizeError, STATES, type State, TASK_TYPES, type TaskType, utcMidnight } from '@pipeline/domain';
import {
  type BlockedIssue,
  type CostSums,
  type FailedRun,
  type InFlightTask,
  type OrgScope,
  OVERVIEW_LIST,
  repoOverview,
  type Store,
} from '@pipeline/store';
import { repoNotFound } from '../repos/repo-not-found.ts';
import { poolOf, type WorkerPool } from '../workers/worker-pool.ts';

/** Status of a repo's pipeline (interface: the overview snapshot). */
export interface Overview {
  repo: string;
  openIssues: number;
  issuesByState: Record<State, number>;
  queueDepth: { total: number; byTaskType: Record<TaskType, number> };
  inFlightTasks: InFlightTask[];
  workerPool: WorkerPool;
  blockedIssues: BlockedIssue[];
  recentFailures: (FailedRun & { errorPattern: string | null })[];
  cost: CostSums;
  dlqDepth: number;
  vcsWriteQueueDepth: number;
  vcsWriteQueueFailed: number;
  truncated: boolean;
  serverTimestamp: string;
}

/**
 * One statement on `reads`.
 * @throws AppError REPO_NOT_FOUND.
 */
export async function overviewOf(
  store: Store,
  scope: OrgScope,
  slug: string,
  { silenceMs, now }: { silenceMs: number; now: Date },
): Promise<Overview> {
  const row = await repoOverview(store.reads, scope, slug, {
    silenceMs,
    dayStart: utcMidnight(now).toISOString(),
  });
  if (!row) throw repoNotFound();
  const { repo, inFlight, blocked, failures, workers } = row;
  const pending = row.pending.reduce((sum, { n }) => sum + n, 0);
  return {
    repo,
    openIssues: sumOf(row.counts.filter(({ state, isPaused }) => state !== 'done' && !isPaused)),
    issuesByState: totals(STATES, (state) => sumOf(row.counts.filter((count) => count.state === state))),
    queueDepth: {
      total: pending,
      byTaskType: totals(TASK_TYPES, (type) => sumOf(row.pending.filter(({ taskType }) => taskType === type))),
    },
    inFlightTasks: inFlight.slice(0, OVERVIEW_LIST),
    workerPool: poolOf({
      repo,
      workers,
      queueDepth: pending,
      oldestPendingAgeMs: row.pending.length === 0 ? null : Math.max(0, ...row.pending.map(({ oldestMs }) => oldestMs)),
    }),
    blockedIssues: blocked.slice(0, OVERVIEW_LIST),
    recentFailures: failures
      .slice(0, OVERVIEW_LIST)
      .map((run) => ({ ...run, errorPattern: normalizeError(run.errorMessage ?? '') || null })),
    cost: row.cost,
    dlqDepth: row.deadLetters,
    vcsWriteQueueDepth: row.writes,
    vcsWriteQueueFailed: row.failedWrites,
    truncated: [inFlight, blocked, failures, workers].some((list) => list.length > OVERVIEW_LIST),
    serverTimestamp: row.now,
  };
}

const sumOf = (rows: readonly { n: number }[]): number => rows.reduce((sum, { n }) => sum + n, 0);

const totals = <K extends string>(keys: readonly K[], of: (key: K) => number): Record<K, number> =>
  Object.fromEntries(keys.map((key) => [key, of(key)])) as Record<K, number>;
