import { type TaskQueueEntry as DomainEntry, TASK_TYPES } from '@pipeline/domain';
import { z } from 'zod';
import { PolledAt, Timestamp } from '../wire/envelopes.ts';
import { route } from '../wire/route.ts';

const count = z.int().nonnegative();
const ms = z.number().nonnegative();

/** interface: Task queue entry. */
export const TaskQueueEntry = z
  .object({
    id: z.uuid(),
    taskType: z.enum(TASK_TYPES),
    issueNumber: count.meta({ description: '0 for work on a whole repo.' }),
    repoOwner: z.string(),
    repoName: z.string(),
    status: z.enum(['pending', 'claimed']),
    priority: z.int().meta({ description: 'Lower goes first.' }),
    claimedBy: z.string().nullable(),
    createdAt: Timestamp,
    claimedAt: Timestamp.nullable(),
    waitTimeMs: ms.meta({ description: 'Until it was claimed, or until the poll.' }),
    estimatedDurationMs: ms.nullable().meta({
      description: 'Median of the last 7 days in its repo; null with fewer than 5 samples.',
    }),
  })
  .meta({ id: 'TaskQueueEntry', description: 'A task that waits or is worked on.' });

const wire: (entry: DomainEntry) => z.input<typeof TaskQueueEntry> = (entry) => entry;
void wire;

const TaskQueue = z.object({
  tasks: z.array(TaskQueueEntry).meta({ description: 'By priority, the oldest first: at most 2,000.' }),
  summary: z
    .object({
      totalPending: count,
      totalClaimed: count,
      avgWaitMs: ms.meta({ description: 'Mean over the tasks listed; 0 without any.' }),
      oldestPendingAgeMs: ms.nullable().meta({ description: 'null when none is pending.' }),
    })
    .meta({ id: 'TaskQueueSummary' }),
  truncated: z.boolean().meta({ description: 'Whether there are more tasks than are listed.' }),
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
  summary: 'List what waits and what is worked on',
  description: 'Of the enabled repos of all tenants, as of the last poll.',
  replies: { 200: { description: 'The queue.', body: TaskQueue } },
});

const byName = {
  ...queue,
  summary: 'List what waits, and how long it will take',
  description: 'Of the enabled repos of all tenants, as of the last poll.',
  replies: {
    200: {
      description: 'The queue.',
      body: TaskQueue.extend({
        pendingTaskCount: count,
        projectedDrainMs: ms.nullable().meta({
          description: 'Sum of the estimates of all pending tasks; null when none has one.',
        }),
      }),
    },
  },
} as const;

const pipelineTaskQueue = route({ ...byName, id: 'pipelineTaskQueue', path: '/api/pipeline/task-queue' });
const pipelineTaskQueueByName = route({ ...byName, id: 'pipelineTaskQueueByName', path: '/pipeline/task-queue' });

export const taskQueueRoutes = [listTaskQueue, pipelineTaskQueue, pipelineTaskQueueByName] as const;
