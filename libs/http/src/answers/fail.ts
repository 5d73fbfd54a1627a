import { type AnyRoute, errorsOf, type Refusal, type Surface } from '@pipeline/contract';
import { AppError, type ErrorCode } from '@pipeline/domain';
import type { HttpMetrics } from '../request/http-metrics.ts';
import type { RequestScope } from '../request/request-scope.ts';
import { AnswerError } from './answer-error.ts';
import type { ErrorPage } from './page.ts';
import { type SentError, sendError } from './send.ts';

interface FailOptions {
  surface: Surface;
  metrics: HttpMetrics;
  answerCheck: 'throw' | 'log';
  errorPage: ErrorPage | undefined;
}

const BODY_NOT_READ: ReadonlySet<ErrorCode> = new Set(['PAYLOAD_TOO_LARGE', 'REQUEST_TIMEOUT', 'OVERLOADED']);

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
    // The rest of such a body is not read.
    ...(BODY_NOT_READ.has(code) && { connection: 'close' }),
  };
  send(scope, route, { code, message, headers });
}
