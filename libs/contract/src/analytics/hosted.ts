import { ERROR_CLASSES, STATES, TASK_TYPES } from '@pipeline/domain';
import { z } from 'zod';
import { CostByWindow } from '../costs/by-window.ts';
import { RepoQuery, read, repoNotFound } from '../repos/hosted-read.ts';
import { Timestamp } from '../wire/envelopes.ts';
import { route } from '../wire/route.ts';
import { WorkerPoolSnapshot } from '../workers/pool.ts';

const count = z.int().nonnegative();

/** Object schema with a count for each key. */
const countsOf = <K extends string>(keys: readonly K[]) =>
  z.object(Object.fromEntries(keys.map((key) => [key, count])) as Record<K, typeof count>);

/** Health snapshot of one repo's pipeline. */
export const PipelineOverview = z
  .object({
    repo: z.string().meta({ description: '`owner/name` in the case used by the host.', example: 'acme/shop' }),
    openIssues: count.meta({ description: 'Issues in any state except done and paused.' }),
    issuesByState: countsOf(STATES).meta({
      description: 'Number of issues by state, including paused issues. All states are present.',
    }),
    queueDepth: z.object({
      total: count.meta({ description: 'Pending tasks, including held tasks.' }),
      byTaskType: countsOf(TASK_TYPES).meta({ description: 'Pending tasks by type. All types are present.' }),
    }),
    inFlightTasks: z
      .array(
        z.object({
          id: z.string(),
          taskType: z.enum(TASK_TYPES),
          issueNumber: z.int().nullable(),
          claimedBy: z.string(),
          claimedAt: Timestamp,
          runningMs: z.number().nonnegative(),
        }),
      )
      .meta({ description: 'Claimed tasks, longest running first; at most 50.' }),
    workerPool: WorkerPoolSnapshot,
    blockedIssues: z
      .array(
        z.object({
          issueNumber: z.int(),
          title: z.string(),
          state: z.enum(STATES),
          blockReason: z.string().nullable(),
          blockClassification: z.enum(ERROR_CLASSES).nullable(),
          blockedSince: Timestamp.nullable(),
        }),
      )
      .meta({ description: 'Blocked issues, longest blocked first; at most 50.' }),
    recentFailures: z
      .array(
        z.object({
          issueNumber: z.int().nullable(),
          agentName: z.string(),
          errorMessage: z.string().nullable(),
          errorPattern: z.string().nullable(),
          finishedAt: Timestamp,
        }),
      )
      .meta({ description: 'Failed runs, newest first; at most 50.' }),
    cost: CostByWindow,
    dlqDepth: count.meta({ description: 'Unresolved dead letters.' }),
    vcsWriteQueueDepth: count.meta({ description: 'Host writes with status pending or failed.' }),
    vcsWriteQueueFailed: count.meta({ description: 'Host writes with status failed.' }),
    truncated: z.boolean().meta({ description: 'True when a list was truncated.' }),
    serverTimestamp: Timestamp,
  })
  .meta({ id: 'PipelineOverview' });

const zeros = (keys: readonly string[]) => Object.fromEntries(keys.map((key) => [key, 0]));

const overviewExample = {
  repo: 'acme/shop',
  openIssues: 1,
  issuesByState: { ...zeros(STATES), 'in-review': 1 },
  queueDepth: { total: 1, byTaskType: { ...zeros(TASK_TYPES), review: 1 } },
  inFlightTasks: [],
  workerPool: {
    repo: 'acme/shop',
    total: 1,
    idle: 1,
    busy: 0,
    draining: 0,
    offline: 0,
    utilizationPct: 0,
    queueDepth: 1,
    oldestPendingAgeMs: 954_322,
    lastHeartbeat: '2026-01-02T03:19:58.000Z',
    degradedSince: null,
    workers: [
      {
        id: 'wkr_1',
        status: 'idle',
        taskType: null,
        issueNumber: null,
        lastHeartbeat: '2026-01-02T03:19:58.000Z',
        lastClaimAt: null,
      },
    ],
  },
  blockedIssues: [],
  recentFailures: [],
  cost: {
    last24hUsd: 0.25,
    last7dUsd: 0.25,
    last30dUsd: 0.25,
    lifetimeUsd: 0.25,
    todayUsd: 0.25,
    last24hUnreportedCosts: 0,
    last7dUnreportedCosts: 0,
    last30dUnreportedCosts: 0,
    lifetimeUnreportedCosts: 0,
    todayUnreportedCosts: 0,
  },
  dlqDepth: 0,
  vcsWriteQueueDepth: 0,
  vcsWriteQueueFailed: 0,
  truncated: false,
  serverTimestamp: '2026-01-02T03:20:00.000Z',
};

export const pipelineOverview = route({
  ...read,
  id: 'pipelineOverview',
  path: '/api/cli/pipeline/overview',
  summary: 'Get the pipeline overview of a repo',
  description:
    'Returns issue counts, queue depth, in-flight tasks, workers, blocked issues, recent failures and LLM cost.',
  query: z.object({ repo: RepoQuery }),
  replies: { 200: { description: 'Pipeline snapshot.', body: PipelineOverview, example: overviewExample } },
  errors: [repoNotFound],
});
