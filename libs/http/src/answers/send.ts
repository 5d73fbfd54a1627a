import { type AnyRoute, errorCatalogue, type Reply, STATUS_OF, statusOn } from '@pipeline/contract';
import type { ErrorCode } from '@pipeline/domain';
import type { Request } from 'express';
import type { RequestScope } from '../request/request-scope.ts';
import type { ErrorPage, Headers, Page } from './page.ts';

/** Sends a response with one write of headers and body, without ETag and content negotiation. */
export function send(scope: RequestScope, status: number, text: string, headers: Headers): void {
  scope.response.writeHead(status, {
    ...scope.headers,
    ...headers,
    'content-length': String(Buffer.byteLength(text)),
  } as Record<string, string>);
  scope.response.end(text);
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

export interface SentError {
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
export function sendError(
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
