import { TASK_TYPES, WORKER_STATUSES } from '@pipeline/domain';
import { z } from 'zod';
import { Timestamp } from '../wire/envelopes.ts';

const count = z.int().nonnegative();

/** The workers that serve a repo, and what waits for them. */
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
      .meta({ description: 'Share of those present that are busy, one decimal.' }),
    queueDepth: count.meta({ description: 'Pending tasks of the repo, held ones too.' }),
    oldestPendingAgeMs: z.number().nonnegative().nullable(),
    lastHeartbeat: Timestamp.nullable(),
    degradedSince: Timestamp.nullable().meta({ description: 'Since when one of them is silent or stalled.' }),
    workers: z
      .array(
        z.object({
          id: z.string(),
          status: z.enum(WORKER_STATUSES),
          taskType: z.enum(TASK_TYPES).nullable(),
          issueNumber: z.int().nullable(),
          lastHeartbeat: Timestamp.nullable(),
          lastClaimAt: Timestamp.nullable().meta({ description: 'Of the task that it holds.' }),
        }),
      )
      .meta({ description: 'At most 50.' }),
  })
  .meta({ id: 'WorkerPoolSnapshot' });
