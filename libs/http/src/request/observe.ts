import type { HttpMetrics } from './http-metrics.ts';
import type { RequestScope } from './request-scope.ts';

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']);
/** Status in log and metrics for a caller that disconnected before the response was complete. */
const CLIENT_GONE = 499;

/** Writes one log line and one metric per request when the response is complete or the caller has disconnected. */
export function observe(scope: RequestScope, metrics: HttpMetrics): void {
  const { request, response } = scope;
  scope.onClose(() => {
    const durationMs = performance.now() - scope.begunAt;
    const status = response.writableFinished ? response.statusCode : CLIENT_GONE;
    const route = scope.route?.id ?? 'unmatched';
    const method = METHODS.has(request.method) ? request.method : 'OTHER';
    metrics.requests.inc({ route, method, status });
    metrics.seconds.observe({ route }, durationMs / 1000);
    if (!scope.logs('info')) return;
    scope.log.info('request', {
      method,
      // The query may contain sensitive data: log the path only.
      path: request.path.slice(0, 500),
      route,
      status,
      durationMs: Math.round(durationMs * 100) / 100,
      address: scope.address,
      ...(scope.identityKey && { identity: scope.identityKey }),
    });
  });
}
