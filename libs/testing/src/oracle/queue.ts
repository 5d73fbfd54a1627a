import { AGENT_OF, TASK_TYPES } from '@pipeline/domain';
import { estimatesOf } from './metrics/queue.ts';
import { byText, iso } from './names.ts';
import type { Rows } from './rows.ts';

/** Tasks that are listed. */
const LISTED = 2_000;

type Task = Rows['tasks'][number];

const waitOf = ({ at, claimedAt }: Task, now: number): number => Math.max(0, (claimedAt ?? now) - at);

export function taskQueueOf(rows: Rows, now: number) {
  const repos = new Map(rows.repos.map((repo) => [repo.id, repo]));
  const estimates = estimatesOf(rows, now);
  const estimateOf = ({ repoId, type }: Task) => estimates[`${repoId}/${AGENT_OF[type]}`] ?? null;
  const pending = rows.tasks.filter(({ status }) => status === 'pending');
  const sorted = rows.tasks.toSorted((a, b) => a.priority - b.priority || a.at - b.at || byText(a.id, b.id));
  const tasks = sorted.slice(0, LISTED).map((task) => ({
    id: task.id,
    taskType: task.type,
    issueNumber: task.issue,
    repoOwner: repos.get(task.repoId)?.owner,
    repoName: repos.get(task.repoId)?.name,
    status: task.status,
    priority: task.priority,
    claimedBy: task.claimedBy,
    createdAt: iso(task.at),
    claimedAt: task.claimedAt === null ? null : iso(task.claimedAt),
    waitTimeMs: waitOf(task, now),
    estimatedDurationMs: estimateOf(task),
  }));
  const waits = tasks.map(({ waitTimeMs }) => waitTimeMs);
  const known = pending.flatMap((task) => estimateOf(task) ?? []);
  return {
    tasks,
    summary: {
      totalPending: pending.length,
      totalClaimed: rows.tasks.length - pending.length,
      avgWaitMs: waits.length === 0 ? 0 : Math.round(sum(waits) / waits.length),
      oldestPendingAgeMs: pending.length === 0 ? null : most(pending.map((task) => waitOf(task, now))),
    },
    pendingTaskCount: pending.length,
    projectedDrainMs: known.length === 0 ? null : sum(known),
    truncated: rows.tasks.length > LISTED,
  };
}

export function queueDepthOf(rows: Rows, now: number) {
  const pending = rows.tasks.filter(({ status }) => status === 'pending');
  const writes = rows.writes.filter(({ status }) => status === 'pending' || status === 'failed');
  return {
    pendingTaskCount: pending.length,
    claimedTaskCount: rows.tasks.length - pending.length,
    byTaskType: TASK_TYPES.map((taskType) => {
      const own = pending.filter(({ type }) => type === taskType);
      return {
        taskType,
        pending: own.length,
        claimed: rows.tasks.filter(({ type, status }) => type === taskType && status === 'claimed').length,
        oldestPendingAgeMs: own.length === 0 ? null : most(own.map(({ at }) => now - at)),
      };
    }),
    dlqDepth: rows.deadLetters.filter(({ isResolved }) => !isResolved).length,
    vcsWriteQueueDepth: writes.length,
    vcsWriteQueueFailed: writes.filter(({ status }) => status === 'failed').length,
    serverTimestamp: iso(now),
  };
}

const sum = (numbers: readonly number[]): number => numbers.reduce((all, n) => all + n, 0);
export const most = (numbers: readonly number[]): number => numbers.reduce((a, b) => Math.max(a, b));
