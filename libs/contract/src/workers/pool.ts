import { TASK_TYPES, WORKER_STATUSES } from '@pipeline/domain';
import { z } from 'zod';
import { Timestamp } from '../wire/envelopes.ts';

const count = z.int().nonnegative();

/** Workers that serve a repo, with the depth of its task queue. */
export const WorkerPoolSnapshot = z
  .object({
    repo: z.string(),
    total: count,
    idle: count,
    busy: count,
    draining: count,
    offline: count,
    utilizationPct: z
      .number()
      .min(0)
      .max(100)
      .meta({ description: 'Busy workers as a percentage of online workers, one decimal.' }),
    queueDepth: count.meta({ description: 'Pending tasks of the repo, including held tasks.' }),
    oldestPendingAgeMs: z.number().nonnegative().nullable(),
    lastHeartbeat: Timestamp.nullable(),
    degradedSince: Timestamp.nullable().meta({
      description: 'Time since which at least one worker is silent or stalled. Null when all are healthy.',
    }),
    workers: z
      .array(
        z.object({
          id: z.string(),
          status: z.enum(WORKER_STATUSES),
          taskType: z.enum(TASK_TYPES).nullable(),
          issueNumber: z.int().nullable(),
          lastHeartbeat: Timestamp.nullable(),
          lastClaimAt: Timestamp.nullable().meta({ description: 'Claim time of the current task.' }),
        }),
      )
      .meta({ description: 'At most 50 workers.' }),
  })
  .meta({ id: 'WorkerPoolSnapshot' });
