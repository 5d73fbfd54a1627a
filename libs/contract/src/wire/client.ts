import { type ErrorCode, withoutTrailing } from '@pipeline/domain';
import type { z } from 'zod';
import { ApiError } from './envelopes.ts';
import { fillPath } from './match.ts';
import {
  type AnyRoute,
  type BodyInputOf,
  isRawBody,
  type ParamsOf,
  type QueryInputOf,
  type RepliesOf,
} from './route.ts';

/** A successful response, narrowed by its declared status. */
export type AnswerOf<T> = {
  [S in keyof RepliesOf<T> & number]: {
    status: S;
    headers: Headers;
    body: RepliesOf<T>[S] extends { body: infer B extends z.ZodType } ? z.output<B> : undefined;
  };
}[keyof RepliesOf<T> & number];

// zod's empty object is a Record<string, never>: nothing to send. Raw bodies are passed unchanged.
type Needed<Name extends string, T> = [T] extends [undefined]
  ? unknown
  : [T] extends [string | Uint8Array]
    ? { [N in Name]: T }
    : string extends keyof T
      ? unknown
      : Partial<T> extends T
        ? { [N in Name]?: T }
        : { [N in Name]: T };

/** Input of a call: the params, query and body that the route declares. */
type CallInput<T> = Needed<'params', ParamsOf<T>> &
  Needed<'query', QueryInputOf<T>> &
  Needed<'body', BodyInputOf<T>> & { headers?: Record<string, string>; signal?: AbortSignal };

export interface Client {
  /**
   * Sends one request without retries.
   * @returns the response, narrowed by `status`.
   * @throws ApiFailure for an error response, UnexpectedAnswer for an undeclared one, and the error of `fetch` for a
   *   network failure.
   */
  call<T extends AnyRoute>(route: T, input: CallInput<T>): Promise<AnswerOf<T>>;
}

interface ClientOptions {
  baseUrl: string;
  headers?: Record<string, string>;
  fetch?: typeof fetch;
}

/** The service returned an ApiError. */
export class ApiFailure extends Error {
  readonly status: number;
  readonly code: ErrorCode;
  readonly requestId: string | null;
  /** Milliseconds from the Retry-After header; null without one. */
  readonly retryAfterMs: number | null;

  constructor(answer: ApiError, headers: Headers) {
    super(answer.error);
    this.name = 'ApiFailure';
    this.status = answer.status;
    this.code = answer.code;
    this.requestId = headers.get('x-request-id');
    const seconds = Number(headers.get('retry-after') ?? Number.NaN);
    this.retryAfterMs = Number.isFinite(seconds) ? seconds * 1000 : null;
  }
}

/** The response does not match the contract: from a proxy, another service or another version. */
export class UnexpectedAnswer extends Error {
  readonly status: number;

  constructor(route: AnyRoute, status: number, what: string, options?: ErrorOptions) {
    super(`${route.id}: unexpected response ${status}: ${what}`, options);
    this.name = 'UnexpectedAnswer';
    this.status = status;
  }
}

/** Creates a typed client; request types and response checks come from the route declarations. */
export function createClient(options: ClientOptions): Client {
  const base = withoutTrailing(options.baseUrl, '/');
  const send = options.fetch ?? fetch;
  return {
    async call<T extends AnyRoute>(route: T, input: CallInput<T>) {
      const { params, query, body, headers, signal } = input as LooseInput;
      const url = base + fillPath(route.path, params) + search(query);
      const response = await send(url, {
        method: route.method.toUpperCase(),
        headers: { accept: 'application/json', ...contentType(route), ...options.headers, ...headers },
        ...(body !== undefined && {
          body: isRawBody(route.body) ? (body as string | Uint8Array<ArrayBuffer>) : JSON.stringify(body),
        }),
        ...(signal && { signal }),
      });
      return (await read(route, response)) as AnswerOf<T>;
    },
  };
}

interface LooseInput {
  params?: Record<string, unknown>;
  query?: Record<string, unknown>;
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

function contentType(route: AnyRoute): Record<string, string> {
  if (!route.body) return {};
  return { 'content-type': isRawBody(route.body) ? route.body.type : 'application/json' };
}

function search(query: Record<string, unknown> = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null);
  return given.length === 0
    ? ''
    : `?${new URLSearchParams(Object.fromEntries(given.map(([name, value]) => [name, String(value)])))}`;
}

async function read(route: AnyRoute, response: Response) {
  const reply = route.replies[response.status];
  const text = await response.text();
  const json = !reply || (reply.body && (reply.type ?? 'application/json').includes('json'));
  const body = json ? parse(route, response.status, text) : text;
  if (!reply) {
    const failure = ApiError.safeParse(body);
    if (failure.success) throw new ApiFailure(failure.data, response.headers);
    throw new UnexpectedAnswer(route, response.status, text.slice(0, 200));
  }
  const parsed = reply.body?.safeParse(body);
  if (parsed?.error) throw new UnexpectedAnswer(route, response.status, parsed.error.message, { cause: parsed.error });
  return { status: response.status, headers: response.headers, body: parsed?.data };
}

function parse(route: AnyRoute, status: number, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new UnexpectedAnswer(route, status, `not JSON: ${text.slice(0, 200)}`, { cause });
  }
}
