import { type TaskQueueEntry as DomainEntry, TASK_TYPES } from '@pipeline/domain';
import { z } from 'zod';
import { PolledAt, Timestamp } from '../wire/envelopes.ts';
import { route } from '../wire/route.ts';

const count = z.int().nonnegative();
const ms = z.number().nonnegative();

/** interface: Task queue entry. */
const TaskQueueEntry = z
  .object({
    id: z.uuid(),
    taskType: z.enum(TASK_TYPES),
    issueNumber: count.meta({ description: 'Issue number. 0 for repo-level work.' }),
    repoOwner: z.string(),
    repoName: z.string(),
    status: z.enum(['pending', 'claimed']),
    priority: z.int().meta({ description: 'A lower number means a higher priority.' }),
    claimedBy: z.string().nullable(),
    createdAt: Timestamp,
    claimedAt: Timestamp.nullable(),
    waitTimeMs: ms.meta({
      description: 'Time from creation until the claim, or until the poll while pending, in milliseconds.',
    }),
    estimatedDurationMs: ms.nullable().meta({
      description: 'Median duration over the last 7 days in the repo, in milliseconds. Null with fewer than 5 samples.',
    }),
  })
  .meta({ id: 'TaskQueueEntry', description: 'A pending or claimed task.' });

const wire: (entry: DomainEntry) => z.input<typeof TaskQueueEntry> = (entry) => entry;
void wire;

const TaskQueue = z.object({
  tasks: z.array(TaskQueueEntry).meta({ description: 'Tasks ordered by priority, then oldest first; at most 2,000.' }),
  summary: z
    .object({
      totalPending: count,
      totalClaimed: count,
      avgWaitMs: ms.meta({ description: 'Average wait time of the listed tasks in milliseconds; 0 without tasks.' }),
      oldestPendingAgeMs: ms
        .nullable()
        .meta({ description: 'Age of the oldest pending task in milliseconds. Null when none is pending.' }),
    })
    .meta({ id: 'TaskQueueSummary' }),
  truncated: z.boolean().meta({ description: 'True when tasks were omitted from the list.' }),
  polledAt: PolledAt,
});

const queue = {
  method: 'get',
  tags: ['Queue'],
  auth: 'operator',
} as const;

const listTaskQueue = route({
  ...queue,
  id: 'listTaskQueue',
  path: '/api/task-queue',
  summary: 'List the task queue',
  description: 'Returns pending and claimed tasks of the enabled repos of all tenants, as of the last poll.',
  replies: { 200: { description: 'Task queue.', body: TaskQueue } },
});

const byName = {
  ...queue,
  summary: 'List the task queue with the projected drain time',
  description: 'Returns pending and claimed tasks of the enabled repos of all tenants, as of the last poll.',
  replies: {
    200: {
      description: 'Task queue.',
      body: TaskQueue.extend({
        pendingTaskCount: count,
        projectedDrainMs: ms.nullable().meta({
          description: 'Sum of the estimated durations of pending tasks, in milliseconds. Null without estimates.',
        }),
      }),
    },
  },
} as const;

const pipelineTaskQueue = route({ ...byName, id: 'pipelineTaskQueue', path: '/api/pipeline/task-queue' });
const pipelineTaskQueueByName = route({ ...byName, id: 'pipelineTaskQueueByName', path: '/pipeline/task-queue' });

export const taskQueueRoutes = [listTaskQueue, pipelineTaskQueue, pipelineTaskQueueByName] as const;
