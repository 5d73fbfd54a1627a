import { randomUUID } from 'node:crypto';
import {
  ApiFailure,
  type BodyInputOf,
  type ClaimedTask,
  type Client,
  claimTask,
  completeTask,
  createClient,
  failTask,
  heartbeat,
  issueTaskCredentials,
  recordMessages,
  registerWorker,
  reportProgress,
  startTask,
} from '@pipeline/contract';
import { deadlineSignal, type Logger } from '@pipeline/runtime';
import type { GitCredentials } from './git-env.ts';
import { type RetryOptions, retrying } from './retry.ts';

const ANSWER_WITHIN_MS = 15_000;
const RETRY_BASE_MS = 500;
const RETRY_MAX_MS = 30_000;

/** The protocol has no queries, and parameters only for tasks. */
const PLAIN = { params: {}, query: {} };

type Registered = { workerId: string; heartbeatIntervalMs: number; leaseMs: number };
type Heard = { draining: boolean; cancelTaskIds: string[] };
type Body<T> = BodyInputOf<T>;
/** A report without the token, which the client takes from the task. */
type Report<T> = T extends unknown ? Omit<T, 'claimToken'> : never;

export type Completion = Report<Body<typeof completeTask>>;
export type Failure = Report<Body<typeof failTask>>;
type Claim = Pick<ClaimedTask, 'id' | 'claimToken'>;

/**
 * The worker protocol. All calls but the heartbeat are repeated through outages until they are answered
 * or the signal comes; that is safe, for the same token and body get the same answer.
 * @throws ApiFailure: AUTH_* = the token is no good, CLAIM_LOST or TASK_CANCELLED = the task is no longer ours,
 *   NOT_FOUND on claim and heartbeat = register again.
 */
export interface WorkerClient {
  register(worker: Body<typeof registerWorker>, signal: AbortSignal): Promise<Registered>;
  heartbeat(state: Body<typeof heartbeat>, signal: AbortSignal): Promise<Heard>;
  /** null = nothing to do; ask again. */
  claim(wish: Body<typeof claimTask>, signal: AbortSignal): Promise<ClaimedTask | null>;
  start(claim: Claim, signal: AbortSignal): Promise<void>;
  /** null = the service has none for this repo: git goes on with what the machine gives it. */
  credentials(claim: Claim, signal: AbortSignal): Promise<GitCredentials | null>;
  progress(claim: Claim, body: Report<Body<typeof reportProgress>>, signal: AbortSignal): Promise<void>;
  messages(claim: Claim, items: Body<typeof recordMessages>['items'], signal: AbortSignal): Promise<void>;
  complete(claim: Claim, report: Completion, signal: AbortSignal): Promise<void>;
  fail(claim: Claim, report: Failure, signal: AbortSignal): Promise<void>;
}

export interface WorkerClientOptions {
  /** Base address of the hosted API. */
  server: string;
  /** `wrk_at_…` */
  token: string;
  log: Logger;
  retry?: Partial<Pick<RetryOptions, 'baseMs' | 'maxMs'>>;
}

/** The service's word, on a call about a task, that the task is no longer ours. */
export const isClaimGone = (error: unknown): boolean =>
  error instanceof ApiFailure && ['CLAIM_LOST', 'TASK_CANCELLED', 'NOT_FOUND'].includes(error.code);

export const isUnauthorized = (error: unknown): boolean => error instanceof ApiFailure && error.status === 401;

/** On claim and heartbeat: the service has forgotten the worker, which has to register again. */
export const isUnknownWorker = (error: unknown): boolean => error instanceof ApiFailure && error.code === 'NOT_FOUND';

export function createWorkerClient({ server, token, log, retry = {} }: WorkerClientOptions): WorkerClient {
  const api: Client = createClient({ baseUrl: server, headers: { authorization: `Bearer ${token}` } });
  const timing = { baseMs: RETRY_BASE_MS, maxMs: RETRY_MAX_MS, ...retry };
  const within = (signal: AbortSignal, extraMs = 0) => deadlineSignal(ANSWER_WITHIN_MS + extraMs, signal);
  const again = <T>(what: string, signal: AbortSignal, call: () => Promise<T>) =>
    retrying(what, call, { ...timing, signal, log });

  return {
    register: (body, signal) =>
      again(
        'register',
        signal,
        async () => (await api.call(registerWorker, { ...PLAIN, body, signal: within(signal) })).body,
      ),
    heartbeat: async (body, signal) => (await api.call(heartbeat, { ...PLAIN, body, signal: within(signal) })).body,
    claim: (wish, signal) => {
      // One key for all attempts of this claim: a task whose answer was lost comes back at once.
      const body = { claimKey: randomUUID(), ...wish };
      return again('claim', signal, async () => {
        const answer = await api.call(claimTask, { ...PLAIN, body, signal: within(signal, body.waitMs ?? 0) });
        return answer.status === 200 ? answer.body.task : null;
      });
    },
    start: ({ id, claimToken }, signal) =>
      again('start', signal, async () => {
        await api.call(startTask, { ...PLAIN, params: { id }, body: { claimToken }, signal: within(signal) });
      }),
    credentials: ({ id, claimToken }, signal) =>
      again('credentials', signal, async () => {
        const asked = { ...PLAIN, params: { id }, body: { claimToken }, signal: within(signal) };
        try {
          return (await api.call(issueTaskCredentials, asked)).body;
        } catch (error) {
          if (error instanceof ApiFailure && error.code === 'CREDENTIALS_UNAVAILABLE') return null;
          throw error;
        }
      }),
    progress: ({ id, claimToken }, body, signal) =>
      again('progress', signal, async () => {
        await api.call(reportProgress, {
          ...PLAIN,
          params: { id },
          body: { ...body, claimToken },
          signal: within(signal),
        });
      }),
    messages: ({ id, claimToken }, items, signal) =>
      again('messages', signal, async () => {
        await api.call(recordMessages, {
          ...PLAIN,
          params: { id },
          body: { claimToken, items },
          signal: within(signal),
        });
      }),
    complete: ({ id, claimToken }, report, signal) =>
      again('complete', signal, async () => {
        await api.call(completeTask, {
          ...PLAIN,
          params: { id },
          body: { ...report, claimToken },
          signal: within(signal),
        });
      }),
    fail: ({ id, claimToken }, report, signal) =>
      again('fail', signal, async () => {
        await api.call(failTask, { ...PLAIN, params: { id }, body: { ...report, claimToken }, signal: within(signal) });
      }),
  };
}
