import { TASK_TYPES } from '@pipeline/domain';
import { z } from 'zod';
import { Timestamp } from '../wire/envelopes.ts';
import { route } from '../wire/route.ts';

const count = z.int().nonnegative();
const ageMs = z.number().nonnegative().nullable();

/** interface: Queue. */
const QueueDepth = z
  .object({
    pendingTaskCount: count,
    claimedTaskCount: count,
    byTaskType: z
      .array(
        z.object({
          taskType: z.enum(TASK_TYPES),
          pending: count,
          claimed: count,
          oldestPendingAgeMs: ageMs.meta({
            description: 'Age of the oldest pending task in milliseconds. Null when none is pending.',
          }),
          withoutWorker: count.meta({
            description:
              'Pending tasks, not held, that no online worker can claim by task type, repo and agent. Draining workers do not count; a worker counts for two minutes after its last heartbeat, a task after two minutes of waiting.',
          }),
          oldestWithoutWorkerAgeMs: ageMs.meta({
            description: 'Time that the oldest of these has been waiting, in milliseconds. Null when there is none.',
          }),
        }),
      )
      .meta({ description: 'Depth by task type. All types are present.' }),
    dlqDepth: count.meta({ description: 'Unresolved dead letters.' }),
    vcsWriteQueueDepth: count.meta({ description: 'Projections with status pending or failed.' }),
    vcsWriteQueueFailed: count.meta({ description: 'Projections with status failed.' }),
    serverTimestamp: Timestamp,
  })
  .meta({ id: 'QueueDepth', description: 'Queue depth of the enabled repos.' });

const queueDepth = route({
  id: 'queueDepth',
  method: 'get',
  path: '/api/queue/depth',
  summary: 'Get the queue depth',
  description:
    'Returns the number of tasks, dead letters and host writes over all tenants. Held tasks count as pending.',
  tags: ['Queue'],
  auth: 'operator',
  replies: { 200: { description: 'Queue depths.', body: QueueDepth } },
});

export const queueRoutes = [queueDepth] as const;
