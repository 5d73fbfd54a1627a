import { type AnyRoute, errorsOf, type Refusal, type Surface } from '@pipeline/contract';
import { AppError, type ErrorCode } from '@pipeline/domain';
import { AnswerError } from './answer-error.ts';
import type { ErrorPage } from './app-options.ts';
import type { HttpMetrics } from './http-metrics.ts';
import type { RequestScope } from './request-scope.ts';
import { type SentError, sendError } from './send.ts';

interface FailOptions {
  surface: Surface;
  metrics: HttpMetrics;
  answerCheck: 'throw' | 'log';
  errorPage: ErrorPage | undefined;
}

const BODY_NOT_READ: ReadonlySet<ErrorCode> = new Set(['PAYLOAD_TOO_LARGE', 'REQUEST_TIMEOUT', 'OVERLOADED']);

const UNEXPECTED: Refusal = { code: 'INTERNAL_ERROR' };

/** Turns whatever was thrown into an ApiError. The cause goes to the log under the request id, never to the caller. */
export type Fail = (scope: RequestScope, error: unknown) => void;

export function errorMapping({ surface, metrics, answerCheck, errorPage }: FailOptions): Fail {
  const send: Send = (scope, route, error) => sendError(scope, route, error, errorPage);
  const declared = new Map(
    surface.routes.map((route) => [route, new Set(errorsOf(surface, route).map((error) => error.code))]),
  );
  return (scope, error) => {
    const { route, response } = scope;
    if (response.headersSent) {
      // Half an answer cannot be taken back: the caller must see that it is broken.
      scope.log.error('request failed after its answer had begun', { error });
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

/** A stream may fail after its headers were set and before it began. */
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
    // What is left of such a body is not read.
    ...(BODY_NOT_READ.has(code) && { connection: 'close' }),
  };
  send(scope, route, { code, message, headers });
}
