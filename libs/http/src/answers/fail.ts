import {
  type AnyRoute,
  errorCatalogue,
  errorsOf,
  type Refusal,
  type Reply,
  STATUS_OF,
  type Surface,
  statusOn,
} from '@pipeline/contract';
import { AppError, type ErrorCode } from '@pipeline/domain';
import type { Request } from 'express';
import type { HttpMetrics } from '../request/http-metrics.ts';
import type { RequestScope } from '../request/request-scope.ts';
import { AnswerError } from './answer-error.ts';

export interface Page {
  html: string;
  /** Content-Security-Policy of the page. */
  policy: string;
}

type Headers = Readonly<Record<string, string | readonly string[]>>;

/** Renders the page for an error status; `headers` are those of the response, such as Retry-After. */
export type ErrorPage = (error: { status: number; headers: Headers }) => Page;

/** Sends a response with one write of headers and body, without ETag and content negotiation. */
export function send(scope: RequestScope, status: number, body: string | Buffer, headers: Headers): void {
  scope.response.writeHead(status, {
    ...scope.headers,
    ...headers,
    'content-length': String(Buffer.byteLength(body)),
  } as Record<string, string>);
  scope.response.end(body);
}

export const JSON_TYPE: Headers = { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' };

/** Sends an HTML page instead of an ApiError. */
export function sendPage(scope: RequestScope, status: number, { html, policy }: Page, headers: Headers = {}): void {
  const type = 'text/html; charset=utf-8';
  const own = { 'content-type': type, 'content-security-policy': policy, 'cache-control': 'no-store' };
  send(scope, status, html, { ...own, ...headers });
}

/** Returns whether the caller prefers HTML to JSON; false for a caller that accepts anything. */
export const isBrowser = (request: Request): boolean => request.accepts(['json', 'html']) === 'html';

/** Returns whether the reply declared for a status may be a page. */
const mayBePage = (reply: Reply | undefined): boolean => reply?.type === 'text/html' || reply?.type === '*/*';

interface SentError {
  code: ErrorCode;
  message?: string | undefined;
  headers?: Headers | undefined;
}

/** Returns whether a route declares a status without a body, such as 404 for a file. */
const isEmpty = (reply: Reply | undefined): boolean => reply !== undefined && !reply.body && !reply.streamed;

/**
 * Writes an ApiError; the only place that does.
 * @param errorPage renders the page for browsers instead, if the route declares a page for the status.
 */
function sendError(
  scope: RequestScope,
  route: AnyRoute | undefined,
  { code, message, headers = {} }: SentError,
  errorPage?: ErrorPage,
): void {
  const status = route ? statusOn(route, code) : STATUS_OF[code];
  if (route && isEmpty(route.replies[status])) {
    scope.response.writeHead(status, { ...scope.headers, ...headers, 'content-length': '0' } as Record<string, string>);
    scope.response.end();
    return;
  }
  if (errorPage && mayBePage(route?.replies[status]) && isBrowser(scope.request)) {
    sendPage(scope, status, errorPage({ status, headers }), headers);
    return;
  }
  const body = JSON.stringify({ error: message || errorCatalogue[code].text, code, status });
  send(scope, status, body, { ...JSON_TYPE, ...headers });
}

interface FailOptions {
  surface: Surface;
  metrics: HttpMetrics;
  answerCheck: 'throw' | 'log';
  errorPage: ErrorPage | undefined;
}

const BODY_NOT_READ: ReadonlySet<ErrorCode> = new Set(['PAYLOAD_TOO_LARGE', 'REQUEST_TIMEOUT', 'OVERLOADED']);

/** Seconds in which the store is checked again; the pools may be free earlier. */
const STORE_RETRY_AFTER_S = 2;

const UNEXPECTED: Refusal = { code: 'INTERNAL_ERROR' };

/** Maps a thrown value to an ApiError. The cause is logged with the request id and never sent to the caller. */
type Fail = (scope: RequestScope, error: unknown) => void;

export function errorMapping({ surface, metrics, answerCheck, errorPage }: FailOptions): Fail {
  const send: Send = (scope, route, error) => sendError(scope, route, error, errorPage);
  const declared = new Map(
    surface.routes.map((route) => [route, new Set(errorsOf(surface, route).map((error) => error.code))]),
  );
  return (scope, error) => {
    const { route, response } = scope;
    if (response.headersSent) {
      // A partial response cannot be revoked: destroy the connection so that the caller detects the failure.
      scope.log.error('request failed after the response had started', { error });
      response.destroy();
      return;
    }
    clearHeaders(response);
    if (!(error instanceof AppError)) {
      unexpected(scope, route, error, send);
      return;
    }
    const isDeclared = !route || declared.get(route)?.has(error.code);
    if (!isDeclared) {
      metrics.undeclared.inc({ route: route.id });
      scope.log.error('error is not declared by its route', { route: route.id, code: error.code, error });
    }
    if (isDeclared || answerCheck === 'log') known(scope, route, error, send);
    else unexpected(scope, route, error, send);
  };
}

/** A stream may fail after its headers were set and before the first byte. */
function clearHeaders(response: RequestScope['response']): void {
  for (const name of response.getHeaderNames()) if (name !== 'connection') response.removeHeader(name);
}

type Send = (scope: RequestScope, route: AnyRoute | undefined, error: SentError) => void;

function unexpected(scope: RequestScope, route: AnyRoute | undefined, error: unknown, send: Send): void {
  scope.log.error('request failed', { route: route?.id, error });
  send(scope, route, route?.failure ?? UNEXPECTED);
}

function known(scope: RequestScope, route: AnyRoute | undefined, error: AppError, send: Send): void {
  const { code, message, detail, cause } = error;
  if (code === 'INTERNAL_ERROR') scope.log.error('request failed', { route: route?.id, error });
  else if (detail !== undefined || cause !== undefined)
    scope.log.info('request refused', { code, message, detail, cause });
  const headers = {
    ...(error instanceof AnswerError && error.headers),
    // An outage; a message of its own names something that a retry does not provide.
    ...(code === 'STORE_UNAVAILABLE' && message === '' && { 'retry-after': String(STORE_RETRY_AFTER_S) }),
    // The rest of such a body is not read.
    ...(BODY_NOT_READ.has(code) && { connection: 'close' }),
  };
  send(scope, route, { code, message, headers });
}
