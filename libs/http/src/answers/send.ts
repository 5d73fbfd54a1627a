import { type AnyRoute, errorCatalogue, type Reply, STATUS_OF, statusOn } from '@pipeline/contract';
import type { ErrorCode } from '@pipeline/domain';
import type { RequestScope } from '../request/request-scope.ts';

type Headers = Readonly<Record<string, string | readonly string[]>>;

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

/** An HTML page that belongs to no route. */
export function sendPage(
  scope: RequestScope,
  status: number,
  { html, policy }: { html: string; policy: string },
): void {
  const type = 'text/html; charset=utf-8';
  send(scope, status, html, { 'content-type': type, 'content-security-policy': policy, 'cache-control': 'no-store' });
}

interface SentError {
  code: ErrorCode;
  message?: string | undefined;
  headers?: Headers | undefined;
}

/** Returns whether a route declares a status without a body, such as 404 for a file. */
const isEmpty = (reply: Reply | undefined): boolean => reply !== undefined && !reply.body && !reply.streamed;

/** Writes an ApiError; the only place that does. */
export function sendError(
  scope: RequestScope,
  route: AnyRoute | undefined,
  { code, message, headers }: SentError,
): void {
  const status = route ? statusOn(route, code) : STATUS_OF[code];
  if (route && isEmpty(route.replies[status])) {
    scope.response.writeHead(status, { ...scope.headers, ...headers, 'content-length': '0' } as Record<string, string>);
    scope.response.end();
    return;
  }
  const body = JSON.stringify({ error: message || errorCatalogue[code].text, code, status });
  send(scope, status, body, { ...JSON_TYPE, ...headers });
}
