import { Counter, Histogram, type Registry } from 'prom-client';

export interface HttpMetrics {
  requests: Counter<'route' | 'method' | 'status'>;
  seconds: Histogram<'route'>;
  undeclared: Counter<'route'>;
}

/** `route` is the id of a declaration, or `unmatched`: never a path, so the number of series is bounded. */
export function createHttpMetrics(registry: Registry): HttpMetrics {
  const registers = [registry];
  return {
    requests: new Counter({
      name: 'svc_http_requests_total',
      help: 'HTTP requests answered.',
      labelNames: ['route', 'method', 'status'],
      registers,
    }),
    seconds: new Histogram({
      name: 'svc_http_request_seconds',
      help: 'Time from the request header to the end of the response.',
      labelNames: ['route'],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 30],
      registers,
    }),
    undeclared: new Counter({
      name: 'svc_http_undeclared_answers_total',
      help: 'Responses that the contract does not declare; each is a defect.',
      labelNames: ['route'],
      registers,
    }),
  };
}
