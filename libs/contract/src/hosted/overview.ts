import { ERROR_CLASSES, STATES, TASK_TYPES } from '@pipeline/domain';
import { z } from 'zod';
import { Timestamp } from '../envelopes.ts';
import { CostByWindow } from '../shared/cost-by-window.ts';
import { WorkerPoolSnapshot } from '../shared/worker-pool.ts';

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
