/** The service refused a request: its status, its error code and its request id. */
export class PipelineError extends Error {
  override readonly name = 'PipelineError';
  readonly status: number;
  /** Such as `ISSUE_NOT_FOUND`; null when the response is not one of the service, as from a proxy. */
  readonly code: string | null;
  readonly requestId: string | null;
  /** The whole body, parsed where it is JSON. */
  readonly body: unknown;
  /** Milliseconds after which the service asks to try again; null = it does not say. */
  readonly retryAfterMs: number | null;

  constructor(response: Response, body: unknown) {
    const { error, code } = (typeof body === 'object' && body !== null ? body : {}) as Record<string, unknown>;
    super(typeof error === 'string' ? error : `unexpected response ${response.status}`);
    this.status = response.status;
    this.code = typeof code === 'string' ? code : null;
    this.requestId = response.headers.get('x-request-id');
    this.body = body;
    this.retryAfterMs = retryAfterMs(response.headers.get('retry-after'), Date.now());
  }
}

/** Seconds, or a date as proxies send it. */
function retryAfterMs(header: string | null, now: number): number | null {
  if (header === null) return null;
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - now;
  return Number.isNaN(ms) ? null : Math.max(0, ms);
}
