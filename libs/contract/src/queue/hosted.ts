import { AgentName, STATES, TASK_TYPES } from '@pipeline/domain';
import { z } from 'zod';
import { Ok, Timestamp } from '../wire/envelopes.ts';
import { type DeclaredError, route } from '../wire/route.ts';
import { Traceparent } from '../wire/trace-id.ts';
import { AgentMessageInput, CompleteReport, claimToken, FailReport, invocations } from './report.ts';
import { TaskPayload } from './task-payload.ts';

const MIB = 1024 * 1024;
const workerId = z
  .string()
  .min(1)
  .max(100)
  .meta({ description: 'Worker id returned by the registration.', example: 'w-7f3a' });
const taskTypes = z.array(z.enum(TASK_TYPES)).max(TASK_TYPES.length);
const repos = z
  .array(z.string().regex(/^[^/\s]+\/[^/\s]+$/, 'must be owner/name'))
  .max(500)
  .meta({ description: 'Repos to serve, `owner/name`. Empty = all repos that the token has access to.' });
const agents = z.array(AgentName).max(20);
const attempt = z.int().nonnegative().meta({ description: 'Attempt number, zero-based.' });

export const ClaimedTask = z
  .object({
    id: z.string(),
    taskType: z.enum(TASK_TYPES),
    repo: z.string(),
    issueNumber: z.int().positive().nullable(),
    priority: z.int(),
    attempt,
    maxAttempts: z.int().positive(),
    agent: z.string().nullable().meta({
      description: 'Agent that must do the task, because the repo compares agents. Null = any agent.',
      example: null,
    }),
    claimToken,
    leaseExpiresAt: Timestamp,
    payload: TaskPayload,
    promptVersion: z.int().nullable(),
    maxTurns: z.int().nullable(),
    budgetUsd: z.number().nullable().meta({ description: 'Remaining budget of the issue in USD. Null = no limit.' }),
    traceparent: Traceparent.meta({
      description: 'Trace of the issue, or of the task when it has none, and span of the run (W3C Trace Context).',
    }),
  })
  .meta({ id: 'ClaimedTask' });
export type ClaimedTask = z.output<typeof ClaimedTask>;

// Agent output may contain NUL, unpaired surrogates and numbers of any size; replace them rather than reject the report.
const worker = { auth: 'worker', method: 'post', tags: ['Worker protocol'], unstorableText: 'replace' } as const;
const unknownWorker: DeclaredError = { code: 'NOT_FOUND', description: 'Unknown worker. Register again' };
const onTask = {
  ...worker,
  params: z.object({ id: z.string().min(1).max(100).meta({ description: 'Task id.', example: 't-1' }) }),
  errors: ['CLAIM_LOST', 'TASK_CANCELLED'],
} as const;

export const registerWorker = route({
  ...worker,
  id: 'registerWorker',
  path: '/api/worker/register',
  summary: 'Register a worker',
  description:
    'Returns the worker id and the heartbeat and lease intervals. Registering an existing name returns the same worker ' +
    'and releases the tasks it had claimed. A name belongs to the token that registered it until that token is revoked.',
  errors: [
    { code: 'INSUFFICIENT_SCOPE', description: 'The name belongs to another worker token' },
    {
      code: 'INVALID_BODY',
      description: 'An invalid field, or a repo that is not enabled or outside the access of the token',
    },
  ],
  body: z.object({
    name: z.string().min(1).max(200).regex(/\S/, 'must not be blank'),
    hostname: z.string().max(255).default(''),
    version: z.string().max(100).default(''),
    repos: repos.default([]),
    taskTypes: taskTypes.min(1),
    labels: z.record(z.string().max(100), z.string().max(500)).default({}),
    agents: agents.default([]).meta({
      description:
        'Names of the agents that the worker runs. While none is online for a compared task, the task waits 15 minutes and is then given to any agent.',
      example: ['claude'],
    }),
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
  summary: 'Send a heartbeat',
  description:
    'Keeps the worker online and extends the leases of the listed tasks whose claim token is valid. Status `leaving` signs the worker off.',
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
      description: 'Heartbeat recorded.',
      body: z.object({
        ok: z.literal(true),
        draining: z.boolean().meta({
          description: 'True = an operator drains the worker: finish the current task and claim no new ones.',
        }),
        cancelTaskIds: z
          .array(z.string())
          .meta({ description: 'Tasks that were cancelled or whose claim was lost. Discard their work.' }),
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
    'Waits up to `waitMs` milliseconds (0 to 30000, default 0) for a task. Tasks with a lower priority number come first; repos are served fairly. If the response was lost, repeat the request with the same `claimKey`: while the lease lasts, the same worker receives the same task and claim token. Without a key, or after the lease has expired, each request claims another task.',
  body: z.object({
    workerId,
    taskTypes: taskTypes.min(1),
    repos: repos.default([]),
    agents: agents.default([]).meta({
      description:
        'Names of the agents that the worker runs. A task of a repo that compares agents is claimed only with the name of its agent, given in `agent` of the task.',
      example: ['claude'],
    }),
    waitMs: z.int().min(0).max(30_000).default(0),
    claimKey: z
      .uuid()
      .optional()
      .meta({ description: 'Idempotency key: a random UUID, unique per claim and reused for its retries.' }),
  }),
  replies: {
    200: { description: 'The claimed task, held until its lease expires.', body: z.object({ task: ClaimedTask }) },
    204: { description: 'No task available. Repeat the request.' },
  },
  errors: [unknownWorker],
});

const lease = z.object({ ok: z.literal(true), leaseExpiresAt: Timestamp });

export const startTask = route({
  ...onTask,
  id: 'startTask',
  path: '/api/worker/tasks/{id}/start',
  summary: 'Start a claimed task',
  description: 'Confirms that work on the task has begun. A claim that is not started within two minutes is released.',
  body: z.object({ claimToken }),
  replies: { 200: { description: 'Started.', body: lease } },
});

const extendTask = route({
  ...onTask,
  id: 'extendTask',
  path: '/api/worker/tasks/{id}/extend',
  summary: 'Extend the lease of one task',
  description: 'The heartbeat extends the leases of all tasks of a worker; this call extends one.',
  body: z.object({ claimToken }),
  replies: { 200: { description: 'Extended.', body: lease } },
});

export const issueTaskCredentials = route({
  ...onTask,
  id: 'issueTaskCredentials',
  path: '/api/worker/tasks/{id}/credentials',
  summary: 'Get git credentials for the repo of a task',
  description:
    'Returns an installation token of the GitHub App, limited to this repo and to the permissions that the task type ' +
    'needs. It expires after at most one hour; request a new one then. Do not store it.',
  body: z.object({ claimToken }),
  replies: {
    200: {
      description: 'Git credentials.',
      headers: { 'cache-control': { description: 'Always `no-store`.', schema: z.literal('no-store') } },
      body: z.object({
        repo: z.string(),
        cloneUrl: z.string().meta({ description: 'Clone address that the credentials are valid for.' }),
        username: z.string(),
        token: z.string().meta({ description: 'Password for git, bearer token for the host API.' }),
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
  summary: 'Report progress on a task',
  description:
    'Sets the status message of the issue and appends an issue event. Details of more than 65,536 characters of JSON are omitted.',
  bodyLimit: 4 * MIB,
  body: z.object({
    claimToken,
    status: z.string().min(1).max(2_000),
    details: z.record(z.string(), z.unknown()).nullable().default(null),
    invocations: invocations.default([]),
  }),
  replies: { 200: { description: 'Recorded.', body: Ok } },
});

export const recordMessages = route({
  ...onTask,
  id: 'recordMessages',
  path: '/api/worker/tasks/{id}/messages',
  summary: 'Record agent messages',
  description:
    'Stores up to 500 messages (4 MiB) of the transcript. A repeated message is stored once. Content, tool input and tool output are cut after 65,536 characters.',
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
  description:
    'The engine derives the next state from the outcome. Repeating the same report returns the same response. Limit 16 MiB.',
  // A code map at its limits takes about 9 MiB.
  bodyLimit: 16 * MIB,
  body: CompleteReport,
  errors: [
    ...onTask.errors,
    { code: 'INVALID_ARGUMENT', description: 'The outcome is not valid for the type of the task' },
  ],
  replies: {
    200: {
      description: 'Applied.',
      body: z.object({
        ok: z.literal(true),
        requeued: z.literal(false),
        attempt,
        state: z
          .enum(STATES)
          .nullable()
          .meta({ description: 'State of the issue after the outcome. Null for tasks without an issue.' }),
      }),
    },
  },
});

export const failTask = route({
  ...onTask,
  id: 'failTask',
  path: '/api/worker/tasks/{id}/fail',
  summary: 'Report a failed task',
  description: 'The task is retried after a backoff while attempts remain; then the issue is blocked.',
  bodyLimit: 4 * MIB,
  body: FailReport,
  replies: {
    200: {
      description: 'Recorded.',
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
