import { createHmac } from 'node:crypto';
import { matchRoute, type SeenAnswer, type Surface } from '@pipeline/contract';
import { sleep } from '@pipeline/runtime';
import type { ClientCredentials, Credential, CredentialMatrix, UserLogin } from './credentials.ts';
import { addressOf, bodyType, type PlannedRequest } from './planned-request.ts';

/** An answer, or why there was none. */
export type Outcome = { ok: true; answer: SeenAnswer; ms: number } | { ok: false; error: string };

interface TargetOptions {
  /** Base address, without a path. */
  url: string;
  surface: Surface;
  /** Signs bodies of routes that want a signature. */
  webhookSecret?: string | undefined;
  /** Milliseconds until an answer must be complete. */
  timeoutMs: number;
  /** Longest Retry-After that is waited for, in seconds; a longer one is an answer like others. */
  longestRetrySeconds: number;
}

/** Durations of the requests to one endpoint, in milliseconds. */
export interface Timing {
  requests: number;
  totalMs: number;
  slowestMs: number;
}

/** A request as it is sent: method in capitals, path and query as one address. */
export interface HttpRequest {
  readonly method: string;
  readonly address: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array<ArrayBuffer> | undefined;
  /** The body as a printed command holds it between double quotes: `$NAME` in place of a secret. */
  readonly shownBody?: string;
}

/** One surface of the product at an address: sends requests, in sequence or concurrently. */
export class Target {
  readonly surface: Surface;
  readonly url: string;
  readonly #options: TargetOptions;
  /** Timings by operationId. */
  readonly timings = new Map<string, Timing>();
  /** Milliseconds that were waited because the target answered 429. */
  waitedMs = 0;

  constructor(options: TargetOptions) {
    this.#options = options;
    this.surface = options.surface;
    this.url = options.url.replace(/\/$/, '');
  }

  /** A planned request as it is sent, secrets included. */
  httpOf(request: PlannedRequest, credential: Credential): HttpRequest {
    const { route, body } = request;
    const headers = this.#headersOf(request, credential);
    return { method: route.method.toUpperCase(), address: addressOf(request), headers, body };
  }

  #headersOf({ route, body, ...request }: PlannedRequest, credential: Credential): Record<string, string> {
    return {
      accept: route.path === '/api/mcp' ? 'application/json, text/event-stream' : 'application/json',
      ...(route.body && { 'content-type': bodyType(route) }),
      ...request.headers,
      ...(credential.signs && this.#signature(body)),
      ...credential.headers,
    };
  }

  #time({ method, path }: SeenAnswer, ms: number): void {
    const id = matchRoute(this.surface.routes, method, path)?.id ?? 'unknown';
    const { requests, totalMs, slowestMs } = this.timings.get(id) ?? { requests: 0, totalMs: 0, slowestMs: 0 };
    this.timings.set(id, { requests: requests + 1, totalMs: totalMs + ms, slowestMs: Math.max(slowestMs, ms) });
  }

  #signature(body: PlannedRequest['body']): Record<string, string> {
    const { webhookSecret = '' } = this.#options;
    const digest = createHmac('sha256', webhookSecret)
      .update(body ?? '')
      .digest('hex');
    return { 'x-hub-signature-256': `sha256=${digest}` };
  }

  send(request: PlannedRequest, credential: Credential): Promise<Outcome> {
    return this.exchange(this.httpOf(request, credential));
  }

  /** Sends the request; waits and repeats it when the target answers 429 with a Retry-After in bounds. */
  async exchange(request: HttpRequest): Promise<Outcome> {
    for (;;) {
      const outcome = await this.#exchangeFresh(request);
      const seconds = retryAfter(outcome);
      if (seconds === null || seconds > this.#options.longestRetrySeconds) return outcome;
      this.waitedMs += seconds * 1_000;
      await sleep(seconds * 1_000);
    }
  }

  /** Repeats once a request whose kept-alive connection the target had closed: it was never read, or it only reads. */
  async #exchangeFresh(request: HttpRequest): Promise<Outcome> {
    const outcome = await this.#exchangeOnce(request);
    if (outcome.ok) return outcome;
    const isClosed = UNREAD.test(outcome.error) || (request.method === 'GET' && outcome.error.endsWith(RESET));
    return isClosed ? this.#exchangeOnce(request) : outcome;
  }

  async #exchangeOnce({ method, address, headers: sent, body: payload }: HttpRequest): Promise<Outcome> {
    const began = performance.now();
    const timeout = AbortSignal.timeout(this.#options.timeoutMs);
    try {
      const response = await fetch(this.url + address, {
        method,
        headers: sent,
        redirect: 'manual',
        signal: timeout,
        ...(payload !== undefined && { body: payload }),
      });
      const body = isEndless(response) ? await headOf(response) : await response.text();
      const { status, headers } = response;
      const path = address.split('?')[0] ?? '';
      const answer = { method: method.toLowerCase(), path, status, headers, body };
      const ms = performance.now() - began;
      this.#time(answer, ms);
      return { ok: true, answer, ms };
    } catch (error) {
      const { message, cause } = error as Error;
      const why = timeout.aborted ? `no answer within ${this.#options.timeoutMs} ms` : message;
      return { ok: false, error: cause instanceof Error ? `${why}: ${cause.message}` : why };
    }
  }
}

/** A surface under test with the credentials for it. */
export interface TestedSurface {
  target: Target;
  matrix: CredentialMatrix;
  /** Gets further access tokens. Absent = not given. */
  client?: ClientCredentials;
  /** A user whose login the checks may use. Absent = not given. */
  login?: UserLogin;
}

/** Errors of a connection that was closed before the request was written. */
const UNREAD = /other side closed|write EPIPE$/;
/** The target closed the connection while the request was on its way, or failed while it answered. */
const RESET = 'read ECONNRESET';

/** Only the beginning of an event stream is read. */
const isEndless = ({ headers, url }: Response): boolean =>
  headers.get('content-type')?.startsWith('text/event-stream') === true && !url.includes('/api/mcp');

async function headOf(response: Response): Promise<string> {
  await response.body?.cancel();
  return '';
}

function retryAfter(outcome: Outcome): number | null {
  if (!outcome.ok || outcome.answer.status !== 429) return null;
  const seconds = Number(outcome.answer.headers.get('retry-after') ?? Number.NaN);
  return Number.isFinite(seconds) ? seconds : null;
}
