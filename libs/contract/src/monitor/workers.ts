import { FLOOR_STATUSES, TASK_TYPES, WORKER_STATUSES } from '@pipeline/domain';
import { z } from 'zod';
import { Reason, Timestamp, UnpaginatedResponse, withReason } from '../envelopes.ts';
import { route } from '../route.ts';

const id = z.string().meta({ description: 'Id of the worker.', example: 'wkr_0b9c5f7e' });
const slug = z.string().meta({ description: 'owner/repo', example: 'acme/shop' });

/** interface: Worker floor entry. */
export const WorkerFloorEntry = z
  .object({
    id,
    status: z.enum(FLOOR_STATUSES).meta({ description: '`stalled` = it has a task that nobody seems to work on.' }),
    currentTask: z
      .object({
        id: z.string(),
        type: z.enum(TASK_TYPES),
        issueNumber: z.int().positive().nullable().meta({ description: 'null for work on a whole repo.' }),
        repo: slug,
        pipelineState: z.string().nullable(),
        etaMinutes: z.number().nonnegative().nullable().meta({
          description: 'By the median of the last 7 days; null with fewer than 5 samples.',
        }),
      })
      .nullable(),
    queueDepth: z.int().nonnegative().meta({ description: 'Pending tasks of the repos that it serves.' }),
    utilization8hPct: z.number().min(0).max(100).meta({
      description: 'Share of the time it was there in the last 8 h in which it had a task.',
    }),
    lastHeartbeat: Timestamp.nullable(),
    idle: z.boolean(),
    alert: z
      .object({
        reason: z.string().meta({ description: '`silent` or `stalled`.', example: 'silent' }),
        since: Timestamp.nullable(),
        humanAssignee: z.string().nullable().meta({
          description:
            'Login of the person that the host names as the assignee of the issue in hand, the first of several. null without one, and for a bot or an identity of the pipeline.',
          example: 'anna',
        }),
      })
      .nullable(),
  })
  .meta({ id: 'WorkerFloorEntry', description: 'A worker, what it does and whether somebody should look at it.' });

/** interface: metric Worker count. */
export const Worker = z
  .object({
    id,
    repo: slug.nullable().meta({ description: 'null when it serves several, or all of its tenant.' }),
    status: z.enum(WORKER_STATUSES),
    taskTypes: z.array(z.enum(TASK_TYPES)),
    currentTaskId: z.string().nullable(),
    lastHeartbeat: Timestamp.nullable(),
    startedAt: Timestamp,
    version: z.string().nullable(),
  })
  .meta({ id: 'Worker', description: 'A worker that was heard lately.' });

const workers = { auth: 'operator', tags: ['Workers'] } as const;
const params = z.object({ id: id.min(1) });

export const listWorkers = route({
  ...workers,
  id: 'listWorkers',
  method: 'get',
  path: '/api/workers',
  summary: 'List the workers',
  description: 'Those with a recent heartbeat; how many there are is the worker count.',
  replies: { 200: { description: 'All of them.', body: UnpaginatedResponse(Worker) } },
});

export const workerFloor = route({
  ...workers,
  id: 'workerFloor',
  method: 'get',
  path: '/api/workers/floor',
  summary: 'Show what every worker is doing',
  description: 'Workers that fell silent are shown for a day; those that left are not.',
  replies: { 200: { description: 'All of them.', body: UnpaginatedResponse(WorkerFloorEntry) } },
});

export const drainWorker = route({
  ...workers,
  id: 'drainWorker',
  method: 'post',
  path: '/api/workers/{id}/drain',
  summary: 'Have a worker claim nothing new, or go on',
  description: 'A draining worker ends the task it has. It learns of it at its next heartbeat.',
  params,
  body: z.object({
    drain: z.boolean().meta({ description: 'False = it may claim again.' }),
    reason: Reason.optional(),
  }),
  replies: {
    200: { description: 'Set.', body: z.object({ ok: z.literal(true), draining: z.boolean() }) },
  },
  errors: [{ code: 'NOT_FOUND', description: 'Unknown worker.' }],
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
  summary: 'Take the stalled task of a worker back',
  description:
    'Stalled = its lease is over, its worker is silent, or nothing came of it for the stall limit. It can be claimed again.',
  params,
  replies: {
    200: {
      description: 'Taken back, or there was nothing that is stalled.',
      body: z.discriminatedUnion('reclaimed', [
        z.object({
          ok: z.literal(true),
          reclaimed: z.literal(true),
          taskId: z.string(),
          issueNumber: z.int().positive().nullable().meta({ description: 'null for work on a whole repo.' }),
        }),
        z.object({ ok: z.literal(true), reclaimed: z.literal(false) }),
      ]),
    },
  },
  failure: { code: 'RECLAIM_FAILED' },
});

export const workerOperationRoutes = [listWorkers, workerFloor, drainWorker, reclaimWorker] as const;
