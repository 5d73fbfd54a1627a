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

/** Input of a call: the protocol has no query parameters, and path parameters only for tasks. */
const PLAIN = { params: {}, query: {} };

type Registered = { workerId: string; heartbeatIntervalMs: number; leaseMs: number };
type Heard = { draining: boolean; cancelTaskIds: string[] };
type Body<T> = BodyInputOf<T>;
/** A report without the claim token, which the client adds. */
type Report<T> = T extends unknown ? Omit<T, 'claimToken'> : never;

export type Completion = Report<Body<typeof completeTask>>;
export type Failure = Report<Body<typeof failTask>>;
type Claim = Pick<ClaimedTask, 'id' | 'claimToken'>;

/**
 * Client of the worker protocol. All calls except the heartbeat are retried during outages until they get a response or the
 * signal is aborted. Retries are safe, because the same token and body return the same response.
 * @throws ApiFailure: AUTH_* = invalid token; CLAIM_LOST or TASK_CANCELLED = the claim is lost; NOT_FOUND on claim and
 *   heartbeat = register again.
 */
export interface WorkerClient {
  register(worker: Body<typeof registerWorker>, signal: AbortSignal): Promise<Registered>;
  heartbeat(state: Body<typeof heartbeat>, signal: AbortSignal): Promise<Heard>;
  /** Returns null when no task is available. */
  claim(request: Body<typeof claimTask>, signal: AbortSignal): Promise<ClaimedTask | null>;
  start(claim: Claim, signal: AbortSignal): Promise<void>;
  /** Returns null when the service has no credentials for the repo; git then uses those of the machine. */
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

/** Returns whether an error of a task call means that the claim is lost. */
export const isClaimGone = (error: unknown): boolean =>
  error instanceof ApiFailure && ['CLAIM_LOST', 'TASK_CANCELLED', 'NOT_FOUND'].includes(error.code);

export const isUnauthorized = (error: unknown): boolean => error instanceof ApiFailure && error.status === 401;

/** Returns whether an error of a claim or heartbeat means that the worker must register again. */
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
    claim: (request, signal) => {
      // One key for all attempts of this claim, so that a retry returns a task whose response was lost.
      const body = { claimKey: randomUUID(), ...request };
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
