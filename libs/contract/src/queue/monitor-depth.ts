import { TASK_TYPES } from '@pipeline/domain';
import { z } from 'zod';
import { Timestamp } from '../wire/envelopes.ts';
import { route } from '../wire/route.ts';

const count = z.int().nonnegative();
const ageMs = z.number().nonnegative().nullable();

/** interface: Queue. */
export const QueueDepth = z
  .object({
    pendingTaskCount: count,
    claimedTaskCount: count,
    byTaskType: z
      .array(
        z.object({
          taskType: z.enum(TASK_TYPES),
          pending: count,
          claimed: count,
          oldestPendingAgeMs: ageMs.meta({ description: 'null when none is pending.' }),
        }),
      )
      .meta({ description: 'Every type, also those without tasks.' }),
    dlqDepth: count.meta({ description: 'Unresolved dead letters.' }),
    vcsWriteQueueDepth: count.meta({ description: 'Projections that are pending or failed.' }),
    vcsWriteQueueFailed: count.meta({ description: 'Those of them that failed.' }),
    serverTimestamp: Timestamp,
  })
  .meta({ id: 'QueueDepth', description: 'How much waits in the enabled repos, and for what.' });

const queueDepth = route({
  id: 'queueDepth',
  method: 'get',
  path: '/api/queue/depth',
  summary: 'Show how much waits',
  description: 'Tasks, dead letters and writes to the host, of all tenants. Held tasks count as pending.',
  tags: ['Queue'],
  auth: 'operator',
  replies: { 200: { description: 'The depths.', body: QueueDepth } },
});

export const queueRoutes = [queueDepth] as const;
