import { ERROR_CLASSES, STATES, TASK_TYPES } from '@pipeline/domain';
import { z } from 'zod';
import { Timestamp } from '../envelopes.ts';
import { CostByWindow } from '../shared/cost-by-window.ts';
import { WorkerPoolSnapshot } from '../shared/worker-pool.ts';

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
