import { STATES, TASK_TYPES } from '@pipeline/domain';
import { z } from 'zod';
import { Ok, Timestamp } from '../envelopes.ts';
import { type DeclaredError, route } from '../route.ts';
import { AgentMessageInput, CompleteReport, claimToken, FailReport, invocations } from './report.ts';
import { TaskPayload } from './task-payload.ts';

const MIB = 1024 * 1024;
const workerId = z.string().min(1).max(100).meta({ description: 'From the registration.', example: 'w-7f3a' });
const taskTypes = z.array(z.enum(TASK_TYPES)).max(TASK_TYPES.length);
const repos = z
  .array(z.string().regex(/^[^/\s]+\/[^/\s]+$/, 'must be owner/name'))
  .max(500)
  .meta({ description: 'Only these; empty = all that the token reaches.' });
const attempt = z.int().nonnegative().meta({ description: 'Counts from zero.' });

export const ClaimedTask = z
  .object({
    id: z.string(),
    taskType: z.enum(TASK_TYPES),
    repo: z.string(),
    issueNumber: z.int().positive().nullable(),
    priority: z.int(),
    attempt,
    maxAttempts: z.int().positive(),
    claimToken,
    leaseExpiresAt: Timestamp,
    payload: TaskPayload,
    promptVersion: z.int().nullable(),
    maxTurns: z.int().nullable(),
    budgetUsd: z.number().nullable().meta({ description: 'What is left of the budget of its issue; null = no limit.' }),
  })
  .meta({ id: 'ClaimedTask' });
export type ClaimedTask = z.output<typeof ClaimedTask>;

// What agents print holds NUL characters and halves of surrogate pairs now and then; one must not cost a report.
const worker = { auth: 'worker', method: 'post', tags: ['Worker protocol'], unstorableText: 'replace' } as const;
const unknownWorker: DeclaredError = { code: 'NOT_FOUND', description: 'Unknown worker: register again' };
const onTask = {
  ...worker,
  params: z.object({ id: z.string().min(1).max(100).meta({ description: 'Id of the task.', example: 't-1' }) }),
  errors: ['CLAIM_LOST', 'TASK_CANCELLED', { code: 'NOT_FOUND', description: 'Unknown task' }],
} as const;

export const registerWorker = route({
  ...worker,
  id: 'registerWorker',
  path: '/api/worker/register',
  summary: 'Register a worker',
  description:
    'A name registers once: again, it is the same worker, and what its earlier life had claimed is given back. A name ' +
    'belongs to the token that registered it until that token is revoked.',
  errors: [
    { code: 'INSUFFICIENT_SCOPE', description: 'The name belongs to another worker token' },
    {
      code: 'INVALID_BODY',
      description: 'A repo that is not enabled or that the token does not reach, or a bad field',
    },
  ],
  body: z.object({
    name: z.string().min(1).max(200),
    hostname: z.string().max(255).default(''),
    version: z.string().max(100).default(''),
    repos: repos.default([]),
    taskTypes: taskTypes.min(1),
    labels: z.record(z.string().max(100), z.string().max(500)).default({}),
  }),
  replies: {
    200: {
      description: 'Registered.',
      body: z.object({ workerId, heartbeatIntervalMs: z.int().positive(), leaseMs: z.int().positive() }),
    },
  },
});

export const heartbeat = route({
  ...worker,
  id: 'heartbeat',
  path: '/api/worker/heartbeat',
  summary: 'Keep a worker and its claims alive',
  description: 'Extends the leases whose tokens are right. `leaving` ends the worker.',
  body: z.object({
    workerId,
    status: z.enum(['idle', 'busy', 'draining', 'leaving']),
    tasks: z
      .array(z.object({ taskId: z.string().min(1).max(100), claimToken }))
      .max(100)
      .default([]),
  }),
  replies: {
    200: {
      description: 'Heard.',
      body: z.object({
        ok: z.literal(true),
        draining: z.boolean().meta({ description: 'True = finish, and claim nothing new.' }),
        cancelTaskIds: z.array(z.string()).meta({ description: 'Withdrawn or lost: drop the work.' }),
        serverTimestamp: Timestamp,
      }),
    },
  },
  errors: [unknownWorker],
});

export const claimTask = route({
  ...worker,
  id: 'claimTask',
  path: '/api/worker/claim',
  summary: 'Claim a task',
  description:
    'Waits up to `waitMs` for one. Lower priority numbers first, fair between repos. If the answer was lost, repeat the request with the same `claimKey`: while the lease of the claim lasts, the same worker gets the same task and claim token. Without a key, or after the lease has ended, each request claims another task.',
  body: z.object({
    workerId,
    taskTypes: taskTypes.min(1),
    repos: repos.default([]),
    waitMs: z.int().min(0).max(30_000).default(0),
    claimKey: z
      .uuid()
      .optional()
      .meta({ description: 'Idempotency key: a random UUID, new for each claim and kept for its retries.' }),
  }),
  replies: {
    200: { description: 'A task, held until the lease ends.', body: z.object({ task: ClaimedTask }) },
    204: { description: 'Nothing to do; ask again.' },
  },
  errors: [unknownWorker],
});

const lease = z.object({ ok: z.literal(true), leaseExpiresAt: Timestamp });

export const startTask = route({
  ...onTask,
  id: 'startTask',
  path: '/api/worker/tasks/{id}/start',
  summary: 'Say that work on a task has begun',
  description: 'A claim that is not started within two minutes is given back.',
  body: z.object({ claimToken }),
  replies: { 200: { description: 'Begun.', body: lease } },
});

export const extendTask = route({
  ...onTask,
  id: 'extendTask',
  path: '/api/worker/tasks/{id}/extend',
  summary: 'Extend the lease of one task',
  description: 'The heartbeat does this for all tasks of a worker.',
  body: z.object({ claimToken }),
  replies: { 200: { description: 'Extended.', body: lease } },
});

export const issueTaskCredentials = route({
  ...onTask,
  id: 'issueTaskCredentials',
  path: '/api/worker/tasks/{id}/credentials',
  summary: 'Get git credentials for the repo of a task',
  description:
    'A token of the GitHub App for this one repo, with the rights that the type of the task needs. It lives for at most ' +
    'an hour; ask again when it ends. It must not be stored.',
  body: z.object({ claimToken }),
  replies: {
    200: {
      description: 'Credentials.',
      headers: { 'cache-control': { description: 'Keep no copy.', schema: z.literal('no-store') } },
      body: z.object({
        repo: z.string(),
        cloneUrl: z.string().meta({ description: 'git asks for the credentials at this address.' }),
        username: z.string(),
        token: z.string().meta({ description: 'Password of git, bearer token of the API.' }),
        expiresAt: Timestamp,
        permissions: z.record(z.string(), z.enum(['read', 'write'])),
      }),
    },
  },
  errors: [...onTask.errors, 'CREDENTIALS_UNAVAILABLE', 'HOST_UNAVAILABLE'],
});

export const reportProgress = route({
  ...onTask,
  id: 'reportProgress',
  path: '/api/worker/tasks/{id}/progress',
  summary: 'Say how a task is going',
  description: 'The text becomes the status of the issue, and an issue event.',
  bodyLimit: 4 * MIB,
  body: z.object({
    claimToken,
    status: z.string().min(1).max(2_000),
    details: z.record(z.string(), z.unknown()).nullable().default(null),
    invocations: invocations.default([]),
  }),
  replies: { 200: { description: 'Noted.', body: Ok } },
});

export const recordMessages = route({
  ...onTask,
  id: 'recordMessages',
  path: '/api/worker/tasks/{id}/messages',
  summary: "Record an agent's messages",
  description: 'At most 500 at once. A message sent twice is stored once.',
  bodyLimit: 4 * MIB,
  body: z.object({ claimToken, items: z.array(AgentMessageInput).max(500) }),
  replies: {
    200: { description: 'Stored.', body: z.object({ ok: z.literal(true), stored: z.int().nonnegative() }) },
  },
});

export const completeTask = route({
  ...onTask,
  id: 'completeTask',
  path: '/api/worker/tasks/{id}/complete',
  summary: 'Report the outcome of a task',
  description: 'The engine decides what follows. The same report again gives the same answer.',
  // A code map at its bounds weighs about 9 MiB.
  bodyLimit: 16 * MIB,
  body: CompleteReport,
  errors: [...onTask.errors, { code: 'INVALID_ARGUMENT', description: 'A task of this type cannot end so' }],
  replies: {
    200: {
      description: 'Applied.',
      body: z.object({
        ok: z.literal(true),
        requeued: z.literal(false),
        attempt,
        state: z.enum(STATES).nullable().meta({ description: 'Where the issue is now; null without an issue.' }),
      }),
    },
  },
});

export const failTask = route({
  ...onTask,
  id: 'failTask',
  path: '/api/worker/tasks/{id}/fail',
  summary: 'Report that a task failed',
  description: 'Tried again after a pause while attempts are left; then the issue is blocked.',
  bodyLimit: 4 * MIB,
  body: FailReport,
  replies: {
    200: {
      description: 'Noted.',
      body: z.object({ ok: z.literal(true), requeued: z.boolean(), attempt }),
    },
  },
});

export const workerRoutes = [
  registerWorker,
  heartbeat,
  claimTask,
  startTask,
  extendTask,
  issueTaskCredentials,
  reportProgress,
  recordMessages,
  completeTask,
  failTask,
] as const;
