import { FLOOR_STATUSES, TASK_TYPES, WORKER_STATUSES } from '@pipeline/domain';
import { z } from 'zod';
import { Reason, Timestamp, UnpaginatedResponse, withReason } from '../wire/envelopes.ts';
import { route } from '../wire/route.ts';

const id = z.string().meta({ description: 'Worker id.', example: 'wkr_0b9c5f7e' });
const slug = z.string().meta({ description: 'owner/repo', example: 'acme/shop' });

/** interface: Worker floor entry. */
export const WorkerFloorEntry = z
  .object({
    id,
    name: z.string().meta({ description: 'Name that the worker registered with.', example: 'builder-3' }),
    status: z.enum(FLOOR_STATUSES).meta({ description: 'Worker status. `stalled` = holds a task without progress.' }),
    draining: z.boolean().meta({
      description: 'Whether it claims no new work, also while it is offline or stalled, which `status` shows then.',
    }),
    currentTask: z
      .object({
        id: z.string(),
        type: z.enum(TASK_TYPES),
        issueNumber: z.int().positive().nullable().meta({ description: 'Null for repo-level work.' }),
        repo: slug,
        pipelineState: z.string().nullable(),
        etaMinutes: z.number().nonnegative().nullable().meta({
          description:
            'Estimated minutes left, by the median duration of the last 7 days. Null with fewer than 5 samples.',
        }),
      })
      .nullable(),
    queueDepth: z.int().nonnegative().meta({ description: 'Pending tasks of the repos that the worker serves.' }),
    utilization8hPct: z.number().min(0).max(100).meta({
      description: 'Percentage of its online time in the last 8 hours during which the worker held a task.',
    }),
    lastHeartbeat: Timestamp.nullable(),
    idle: z.boolean(),
    alert: z
      .object({
        reason: z.string().meta({ description: '`silent` or `stalled`.', example: 'silent' }),
        since: Timestamp.nullable(),
        humanAssignee: z.string().nullable().meta({
          description:
            'Login of the assignee of the issue in progress, as reported by the host; the first person if there are several. Bots and identities of the pipeline are skipped. null = no such person.',
          example: 'anna',
        }),
      })
      .nullable(),
  })
  .meta({ id: 'WorkerFloorEntry', description: 'A worker with its current task and alert.' });

/** interface: metric Worker count. */
const Worker = z
  .object({
    id,
    repo: slug
      .nullable()
      .meta({ description: 'Null when the worker serves several repos, or all repos of its tenant.' }),
    status: z.enum(WORKER_STATUSES),
    taskTypes: z.array(z.enum(TASK_TYPES)),
    currentTaskId: z.string().nullable(),
    lastHeartbeat: Timestamp.nullable(),
    startedAt: Timestamp,
    version: z.string().nullable(),
  })
  .meta({ id: 'Worker', description: 'A worker with a recent heartbeat.' });

const workers = { auth: 'operator', tags: ['Workers'] } as const;
const params = z.object({ id: id.min(1) });

const listWorkers = route({
  ...workers,
  id: 'listWorkers',
  method: 'get',
  path: '/api/workers',
  summary: 'List workers',
  description: 'Returns workers with a recent heartbeat. Their number is the worker count metric.',
  replies: { 200: { description: 'Online workers.', body: UnpaginatedResponse(Worker) } },
});

const workerFloor = route({
  ...workers,
  id: 'workerFloor',
  method: 'get',
  path: '/api/workers/floor',
  summary: 'Get the worker floor',
  description:
    'Returns every worker with its current task. Silent workers are listed for one day; workers that signed off are omitted.',
  replies: { 200: { description: 'Workers.', body: UnpaginatedResponse(WorkerFloorEntry) } },
});

export const drainWorker = route({
  ...workers,
  id: 'drainWorker',
  method: 'post',
  path: '/api/workers/{id}/drain',
  summary: 'Drain or resume a worker',
  description:
    'A draining worker finishes its current task and claims no new work. The setting reaches the worker with its next heartbeat.',
  params,
  body: z.object({
    drain: z.boolean().meta({ description: 'True = drain; false = resume claiming.' }),
    reason: Reason.optional(),
  }),
  replies: {
    200: { description: 'Drain status of the worker.', body: z.object({ ok: z.literal(true), draining: z.boolean() }) },
  },
  errors: [{ code: 'NOT_FOUND', description: 'Unknown worker' }],
  refusals: {
    body: { code: 'INVALID_BODY', message: 'Missing required boolean field: drain' },
    fields: { reason: { code: 'INVALID_BODY' } },
  },
  failure: { code: 'INTERNAL_ERROR', message: 'Failed to set worker drain status' },
});

export const reclaimWorker = route({
  ...workers,
  ...withReason,
  id: 'reclaimWorker',
  method: 'post',
  path: '/api/workers/{id}/reclaim',
  summary: 'Reclaim the stalled task of a worker',
  description:
    'Resets a stalled task to pending so that another worker can claim it. A task is stalled when its lease has expired, its worker is silent, or it reported no progress within the stall limit.',
  params,
  replies: {
    200: {
      description: '`reclaimed` is true when a stalled task was reset, false when the worker has none.',
      body: z.discriminatedUnion('reclaimed', [
        z.object({
          ok: z.literal(true),
          reclaimed: z.literal(true),
          taskId: z.string(),
          issueNumber: z.int().positive().nullable().meta({ description: 'Null for repo-level work.' }),
        }),
        z.object({ ok: z.literal(true), reclaimed: z.literal(false) }),
      ]),
    },
  },
  failure: { code: 'RECLAIM_FAILED' },
});

export const workerOperationRoutes = [listWorkers, workerFloor, drainWorker, reclaimWorker] as const;
