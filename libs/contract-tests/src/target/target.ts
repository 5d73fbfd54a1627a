import { createHmac } from 'node:crypto';
import type { SeenAnswer, Surface } from '@pipeline/contract';
import { sleep } from '@pipeline/runtime';
import { addressOf, bodyType, type PlannedRequest } from '../property/planned-request.ts';
import type { Credential } from './credentials.ts';

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

/** One surface of the product at an address: sends requests, one after the other or side by side. */
export class Target {
  readonly surface: Surface;
  readonly url: string;
  readonly #options: TargetOptions;
  /** Milliseconds that were waited because the target said 429. */
  waitedMs = 0;

  constructor(options: TargetOptions) {
    this.#options = options;
    this.surface = options.surface;
    this.url = options.url.replace(/\/$/, '');
  }

  /** Everything that is sent as headers, secrets included. */
  headersOf(request: PlannedRequest, credential: Credential): Record<string, string> {
    const { route, body } = request;
    return {
      accept: route.path === '/api/mcp' ? 'application/json, text/event-stream' : 'application/json',
      ...(route.body && { 'content-type': bodyType(route) }),
      ...request.headers,
      ...(credential.signs && this.#signature(body)),
      ...credential.headers,
    };
  }

  #signature(body: PlannedRequest['body']): Record<string, string> {
    const { webhookSecret = '' } = this.#options;
    const digest = createHmac('sha256', webhookSecret)
      .update(body ?? '')
      .digest('hex');
    return { 'x-hub-signature-256': `sha256=${digest}` };
  }

  /** Sends the request; waits and repeats it when the target answers 429 with a Retry-After in bounds. */
  async send(request: PlannedRequest, credential: Credential): Promise<Outcome> {
    for (;;) {
      const outcome = await this.#sendFresh(request, credential);
      const seconds = retryAfter(outcome);
      if (seconds === null || seconds > this.#options.longestRetrySeconds) return outcome;
      this.waitedMs += seconds * 1_000;
      await sleep(seconds * 1_000);
    }
  }

  /** Repeats a request whose kept-alive connection the target had closed: it was never read. */
  async #sendFresh(request: PlannedRequest, credential: Credential): Promise<Outcome> {
    const outcome = await this.#sendOnce(request, credential);
    return !outcome.ok && outcome.error.includes(CLOSED) ? this.#sendOnce(request, credential) : outcome;
  }

  async #sendOnce(request: PlannedRequest, credential: Credential): Promise<Outcome> {
    const address = addressOf(request);
    const began = performance.now();
    const timeout = AbortSignal.timeout(this.#options.timeoutMs);
    try {
      const response = await fetch(this.url + address, {
        method: request.route.method.toUpperCase(),
        headers: this.headersOf(request, credential),
        redirect: 'manual',
        signal: timeout,
        ...(request.body !== undefined && { body: request.body }),
      });
      const body = isEndless(response) ? await headOf(response) : await response.text();
      const { status, headers } = response;
      const path = address.split('?')[0] ?? '';
      const answer = { method: request.route.method, path, status, headers, body };
      return { ok: true, answer, ms: performance.now() - began };
    } catch (error) {
      const { message, cause } = error as Error;
      const why = timeout.aborted ? `no answer within ${this.#options.timeoutMs} ms` : message;
      return { ok: false, error: cause instanceof Error ? `${why}: ${cause.message}` : why };
    }
  }
}

const CLOSED = 'other side closed';

/** An event stream goes on for ever; its begin is its answer. */
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
