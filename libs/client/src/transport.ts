import { sleep } from '@pipeline/runtime/sleep';
import { PipelineError } from './errors.ts';
import type { CallOptions } from './types.ts';

export interface TransportOptions {
  /** Address of the service, without a path. */
  url: string;
  /** Retries of a request that was not executed; default 3. */
  retries?: number;
  /** Longest Retry-After that is waited for, in milliseconds; default 60,000. A longer one is an error. */
  longestWaitMs?: number;
  /** Milliseconds until a response must be complete; default 30,000. */
  timeoutMs?: number;
  fetch?: typeof fetch;
}

/** @param refused whether the service has just refused the credentials of the last call. */
export type Authorize = (refused: boolean) => Promise<Record<string, string>> | Record<string, string>;

/** Parameters and body of a request. */
export interface Input {
  params?: Record<string, unknown>;
  query?: Record<string, unknown>;
  body?: unknown;
}

type Init = RequestInit & { headers: Record<string, string> };

interface Failure {
  error: unknown;
  /** Milliseconds to wait before the same request is sent again, 0 = as this client likes; null = it is not. */
  waitMs: number | null;
}

const FIRST_WAIT_MS = 500;

/** Sends requests: fills in path and query, authorizes, retries, and turns error responses into errors. */
export class Transport {
  readonly #url: string;
  readonly #options: TransportOptions;
  readonly #authorize: Authorize;

  constructor(options: TransportOptions, authorize: Authorize) {
    this.#url = options.url.endsWith('/') ? options.url.slice(0, -1) : options.url;
    this.#options = options;
    this.#authorize = authorize;
  }

  /**
   * @param operation method and path template, such as `GET /api/issues`.
   * @returns the body of the response, parsed where it is JSON.
   * @throws PipelineError for an error response; the error of fetch for a failed connection, an abort or a timeout.
   */
  async call(operation: string, input: Input = {}, options: CallOptions = {}): Promise<unknown> {
    const response = await this.request(operation, input, options);
    if (response.status === 304) throw new PipelineError(response, '');
    return bodyOf(response);
  }

  /** Sends a request like `call`; @returns the whole response, also 304 for a request with If-None-Match. */
  async request(operation: string, input: Input, { signal, headers = {} }: CallOptions): Promise<Response> {
    const [method = 'GET', template = '/'] = operation.split(' ');
    const timeout = AbortSignal.timeout(this.#options.timeoutMs ?? 30_000);
    return this.open(method, this.#addressOf(template, input), {
      headers: {
        accept: 'application/json',
        ...(input.body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(input.body !== undefined && { body: JSON.stringify(input.body) }),
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
    });
  }

  /** Opens a response whose body the caller reads. @throws as `call`. */
  async open(method: string, address: string, init: Init): Promise<Response> {
    let wasRefused = false;
    for (let attempt = 0; ; attempt += 1) {
      const answer = await this.#attempt(method, address, init, wasRefused);
      if (answer instanceof Response) return answer;
      const { error, waitMs } = answer;
      // New credentials may help, once.
      const isRefused: boolean = error instanceof PipelineError && error.status === 401 && !wasRefused;
      if (attempt >= (this.#options.retries ?? 3) || (waitMs === null && !isRefused)) throw error;
      wasRefused ||= isRefused;
      if (waitMs === null) continue;
      const ms = waitMs || FIRST_WAIT_MS * 2 ** attempt * (0.5 + Math.random() / 2);
      if (!(await sleep(ms, init.signal ?? undefined))) throw init.signal?.reason;
    }
  }

  async #attempt(method: string, address: string, init: Init, wasRefused: boolean): Promise<Response | Failure> {
    const authorization = await this.#authorize(wasRefused);
    const send = this.#options.fetch ?? fetch;
    try {
      const headers = { ...init.headers, ...authorization };
      const response = await send(this.#url + address, { ...init, method, headers });
      if (response.ok || response.status === 304) return response;
      const error = new PipelineError(response, await bodyOf(response));
      return { error, waitMs: this.#waitMsOf(error, method) };
    } catch (error) {
      // A connection that broke may have carried the request.
      const isSafe = method === 'GET' && !init.signal?.aborted;
      return { error, waitMs: isSafe ? 0 : null };
    }
  }

  #waitMsOf({ status, retryAfterMs }: PipelineError, method: string): Failure['waitMs'] {
    const longest = this.#options.longestWaitMs ?? 60_000;
    if (retryAfterMs !== null && retryAfterMs > longest) return null;
    if (status === 429) return retryAfterMs ?? 0;
    const isUnavailable = status === 502 || status === 503 || status === 504;
    return isUnavailable && method === 'GET' ? (retryAfterMs ?? 0) : null;
  }

  #addressOf(template: string, { params = {}, query = {} }: Input): string {
    const path = template.replace(/\{(\w+)\}/g, (_, name: string) => {
      const value = params[name];
      if (value === undefined || value === '') throw new TypeError(`params.${name} is missing`);
      return encodeURIComponent(String(value));
    });
    const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null);
    const search = new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)]));
    return given.length === 0 ? path : `${path}?${search}`;
  }
}

async function bodyOf(response: Response): Promise<unknown> {
  const text = await response.text();
  if (!response.headers.get('content-type')?.startsWith('application/json')) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
