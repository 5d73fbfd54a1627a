import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { type ClaimedTask, workerRoutes } from '@pipeline/contract';
import type { TaskType } from '@pipeline/domain';
import { z } from 'zod';

type RouteId = (typeof workerRoutes)[number]['id'];
type Body = Record<string, unknown>;
/** `drop` closes the connection without an answer. */
type Answer = { status: number; body?: unknown } | 'drop';

export interface Call {
  route: RouteId;
  taskId: string | null;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape.
  body: any;
  authorization: string | undefined;
}

export const refusal = (status: number, code: string): Answer => ({ status, body: { error: code, code, status } });

const TOKEN = '0198c5a4-7c1e-7000-8000-';

/** The worker protocol over HTTP, in memory: every request is held to the contract, every call is noted. */
export class FakeService {
  readonly calls: Call[] = [];
  /** Timing in the response to register. */
  timing = { heartbeatIntervalMs: 20, leaseMs: 60_000 };
  heard = { draining: false, cancelTaskIds: [] as string[] };
  readonly #overrides = new Map<RouteId, ((call: Call, nth: number) => Answer | undefined)[]>();
  readonly #queue: ClaimedTask[] = [];
  readonly #waitingClaims: ((task: ClaimedTask) => void)[] = [];
  readonly #watchers = new Set<() => void>();
  readonly #server: Server;
  #made = 0;

  private constructor() {
    this.#server = createServer((request, response) => void this.#handle(request, response));
  }

  static async start(): Promise<FakeService> {
    const service = new FakeService();
    service.#server.listen(0, '127.0.0.1');
    await once(service.#server, 'listening');
    return service;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** Queues a task; the next claim gets it. */
  add(taskType: TaskType, more: Partial<ClaimedTask> = {}): ClaimedTask {
    this.#made += 1;
    const task: ClaimedTask = {
      id: `t-${this.#made}`,
      taskType,
      repo: 'acme/widgets',
      issueNumber: 7,
      priority: 30,
      attempt: 0,
      maxAttempts: 3,
      agent: null,
      claimToken: TOKEN + String(this.#made).padStart(12, '0'),
      leaseExpiresAt: '2026-01-01T00:00:00.000Z',
      payload: {
        issue: { number: 7, title: 'T', body: '', url: '', labels: [], author: null },
        repo: { slug: 'acme/widgets', cloneUrl: 'file:///x', defaultBranch: 'main', setupCommand: null },
        branch: 'svc/issue-7',
        pr: null,
        plan: null,
        reviewComments: [],
        answers: [],
        snippets: [],
        instructions: null,
        previousAttempts: [],
        state: null,
        history: null,
      },
      promptVersion: null,
      maxTurns: null,
      budgetUsd: null,
      traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`,
      ...more,
    };
    const waiting = this.#waitingClaims.shift();
    if (waiting) waiting(task);
    else this.#queue.push(task);
    return task;
  }

  /** Answers a route otherwise, as long as the function gives an answer; `nth` counts that route's calls from 0. */
  on(route: RouteId, answer: (call: Call, nth: number) => Answer | undefined): void {
    this.#overrides.set(route, [...(this.#overrides.get(route) ?? []), answer]);
  }

  of(route: RouteId): Call[] {
    return this.calls.filter((call) => call.route === route);
  }

  /** The first call that satisfies the condition, past or to come. */
  async call(route: RouteId, wanted: (call: Call) => boolean = () => true): Promise<Call> {
    for (;;) {
      const found = this.of(route).find(wanted);
      if (found) return found;
      await this.#nextCall();
    }
  }

  /** Settles after so many further heartbeats have been answered. */
  async heartbeats(count: number): Promise<void> {
    const until = this.of('heartbeat').length + count;
    while (this.of('heartbeat').length <= until) await this.#nextCall();
  }

  #nextCall(): Promise<void> {
    return new Promise((resolve) => {
      const watcher = () => {
        this.#watchers.delete(watcher);
        resolve();
      };
      this.#watchers.add(watcher);
    });
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? '';
    const taskId = /^\/api\/worker\/tasks\/([^/]+)\//.exec(path)?.[1] ?? null;
    const pattern = taskId === null ? path : path.replace(taskId, '{id}');
    const route = workerRoutes.find((candidate) => candidate.path === pattern);
    if (!route) return send(response, { status: 404, body: { error: path, code: 'NOT_FOUND', status: 404 } });
    const parsed = (route.body as unknown as z.ZodType).safeParse(await json(request));
    if (parsed.error) {
      const error = `${route.id}: ${z.prettifyError(parsed.error)}`;
      return send(response, { status: 400, body: { error, code: 'INVALID_BODY', status: 400 } });
    }
    const { authorization } = request.headers;
    const call: Call = { route: route.id, taskId, body: parsed.data, authorization };
    const nth = this.of(route.id).length;
    this.calls.push(call);
    for (const watcher of [...this.#watchers]) watcher();
    const special = this.#overrides
      .get(route.id)
      ?.map((answer) => answer(call, nth))
      .find((answer) => answer);
    send(response, special ?? (await this.#usual(route.id, response)));
  }

  async #usual(route: RouteId, response: ServerResponse): Promise<Answer> {
    if (route === 'registerWorker') return { status: 200, body: { workerId: 'w-1', ...this.timing } };
    if (route === 'claimTask') return { status: 200, body: { task: await this.#claimed(response) } };
    if (route === 'issueTaskCredentials') return refusal(404, 'CREDENTIALS_UNAVAILABLE');
    const lease = { ok: true, leaseExpiresAt: '2026-01-01T00:00:00.000Z' };
    const bodies: Partial<Record<RouteId, Body>> = {
      heartbeat: { ok: true, ...this.heard, serverTimestamp: '2026-01-01T00:00:00.000Z' },
      startTask: lease,
      extendTask: lease,
      recordMessages: { ok: true, stored: 0 },
      completeTask: { ok: true, requeued: false, attempt: 0, state: null },
      failTask: { ok: true, requeued: true, attempt: 0 },
    };
    return { status: 200, body: bodies[route] ?? { ok: true } };
  }

  /** Waits as the service would; a caller who goes away gets nothing. */
  #claimed(response: ServerResponse): Promise<ClaimedTask> {
    const queued = this.#queue.shift();
    if (queued) return Promise.resolve(queued);
    return new Promise((resolve) => {
      this.#waitingClaims.push(resolve);
      response.once('close', () => this.#waitingClaims.splice(this.#waitingClaims.indexOf(resolve) >>> 0, 1));
    });
  }
}

function send(response: ServerResponse, answer: Answer): void {
  if (answer === 'drop') return void response.destroy();
  response.writeHead(answer.status, { 'content-type': 'application/json' });
  response.end(answer.body === undefined ? undefined : JSON.stringify(answer.body));
}
