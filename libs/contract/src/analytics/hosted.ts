import { ERROR_CLASSES, STATES, TASK_TYPES } from '@pipeline/domain';
import { z } from 'zod';
import { CostByWindow } from '../costs/by-window.ts';
import { RepoQuery, read, repoNotFound } from '../repos/hosted-read.ts';
import { Timestamp } from '../wire/envelopes.ts';
import { route } from '../wire/route.ts';
import { WorkerPoolSnapshot } from '../workers/pool.ts';

const count = z.int().nonnegative();

/** An object with a count for each of the keys. */
const countsOf = <K extends string>(keys: readonly K[]) =>
  z.object(Object.fromEntries(keys.map((key) => [key, count])) as Record<K, typeof count>);

/** How a repo's pipeline does. */
export const PipelineOverview = z
  .object({
    repo: z.string().meta({ description: 'As the host spells it.', example: 'acme/shop' }),
    openIssues: count.meta({ description: 'Neither done nor paused.' }),
    issuesByState: countsOf(STATES).meta({ description: 'Every state, paused issues too.' }),
    queueDepth: z.object({
      total: count.meta({ description: 'Pending tasks, held ones too.' }),
      byTaskType: countsOf(TASK_TYPES).meta({ description: 'Every type.' }),
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
      .meta({ description: 'Longest running first, at most 50.' }),
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
      .meta({ description: 'Longest blocked first, at most 50.' }),
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
      .meta({ description: 'Newest first, at most 50.' }),
    cost: CostByWindow,
    dlqDepth: count.meta({ description: 'Unresolved dead letters.' }),
    vcsWriteQueueDepth: count.meta({ description: 'Writes to the host that are pending or failed.' }),
    vcsWriteQueueFailed: count.meta({ description: 'Those of them that failed.' }),
    truncated: z.boolean().meta({ description: 'True when one of the lists was cut.' }),
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
  cost: { last24hUsd: 0.25, last7dUsd: 0.25, last30dUsd: 0.25, lifetimeUsd: 0.25, todayUsd: 0.25 },
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
  summary: 'Show how the pipeline of a repo does',
  description: 'Issues, queue, workers, what is blocked, what failed lately, what it costs.',
  query: z.object({ repo: RepoQuery }),
  replies: { 200: { description: 'The snapshot.', body: PipelineOverview, example: overviewExample } },
  errors: [repoNotFound],
});
