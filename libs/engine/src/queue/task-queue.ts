import {
  AGENT_OF,
  estimateOf,
  meanWaitMs,
  projectedDrainMs,
  type TaskQueueEntry,
  type TaskQueueSummary,
  type TaskType,
} from '@pipeline/domain';
import { durationEstimates, queuedTasks, queuedWork, type Store } from '@pipeline/store';

/** Maximum number of listed tasks; the figures cover all. */
const SHOWN = 2_000;

/** The queue for display; durations are milliseconds. */
export interface TaskQueue {
  /** The first by priority and age. */
  tasks: TaskQueueEntry[];
  summary: TaskQueueSummary;
  pendingTaskCount: number;
  projectedDrainMs: number | null;
  /** True = there are more tasks than listed. */
  truncated: boolean;
}

/** Waiting and claimed tasks of all tenants. Costs the live tasks, and the runs of their agents in two weeks. */
export async function readTaskQueue(store: Store): Promise<TaskQueue> {
  const work = await queuedWork(store.db);
  const executors = new Map(work.map((group) => [keyOf(group), executorOf(group)]));
  const estimates = await durationEstimates(store.db, [...executors.values()]);
  const byKey = new Map(estimates.map((found) => [`${found.tenantId}/${found.repoId}/${found.agent}`, found]));
  const estimated = (of: Work) => estimateOf(byKey.get(keyOf(of)));
  const shown = await queuedTasks(store.db, SHOWN);
  const tasks = shown.map(({ tenantId, repoId, ...task }) => ({
    ...task,
    estimatedDurationMs: estimated({ tenantId, repoId, taskType: task.taskType }),
  }));
  const totalPending = sum(work.map(({ pending }) => pending));
  const totalClaimed = sum(work.map(({ claimed }) => claimed));
  const ages = work.flatMap(({ oldestPendingAgeMs: age }) => (age === null ? [] : [age]));
  return {
    tasks,
    summary: {
      totalPending,
      totalClaimed,
      avgWaitMs: meanWaitMs(tasks),
      oldestPendingAgeMs: ages.length === 0 ? null : Math.max(...ages),
    },
    pendingTaskCount: totalPending,
    projectedDrainMs: projectedDrainMs(
      work.map((group) => ({ pending: group.pending, estimatedDurationMs: estimated(group) })),
    ),
    truncated: totalPending + totalClaimed > tasks.length,
  };
}

interface Work {
  tenantId: number;
  repoId: number;
  taskType: TaskType;
}

const executorOf = ({ tenantId, repoId, taskType }: Work) => ({ tenantId, repoId, agent: AGENT_OF[taskType] });
const keyOf = ({ tenantId, repoId, taskType }: Work): string => `${tenantId}/${repoId}/${AGENT_OF[taskType]}`;
const sum = (numbers: readonly number[]): number => numbers.reduce((all, n) => all + n, 0);
