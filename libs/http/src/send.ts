import { type AnyRoute, errorCatalogue, type Reply, STATUS_OF, statusOn } from '@pipeline/contract';
import type { ErrorCode } from '@pipeline/domain';
import type { Request } from 'express';
import type { ErrorPage, Headers, Page } from './app-options.ts';
import type { RequestScope } from './request-scope.ts';

/** How an answer leaves: one write of head and body, no etag, no content negotiation. */
export function send(scope: RequestScope, status: number, text: string, headers: Headers): void {
  scope.response.writeHead(status, {
    ...scope.headers,
    ...headers,
    'content-length': String(Buffer.byteLength(text)),
  } as Record<string, string>);
  scope.response.end(text);
}

export const JSON_TYPE: Headers = { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' };

/** A page in place of an ApiError. */
export function sendPage(scope: RequestScope, status: number, { html, policy }: Page, headers: Headers = {}): void {
  const type = 'text/html; charset=utf-8';
  const own = { 'content-type': type, 'content-security-policy': policy, 'cache-control': 'no-store' };
  send(scope, status, html, { ...own, ...headers });
}

/** Whether the caller prefers a page to JSON; a caller that takes anything does not. */
export const isBrowser = (request: Request): boolean => request.accepts(['json', 'html']) === 'html';

/** Whether the route may answer a status with a page. */
const mayBePage = (reply: Reply | undefined): boolean => reply?.type === 'text/html' || reply?.type === '*/*';

export interface SentError {
  code: ErrorCode;
  message?: string | undefined;
  headers?: Headers | undefined;
}

/** True where a route answers a status without a body, such as a file that is not there. */
const isEmpty = (reply: Reply | undefined): boolean => reply !== undefined && !reply.body && !reply.streamed;

/**
 * The one place that writes an ApiError.
 * @param errorPage what browsers get in its place where the route declares a page for the status.
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
