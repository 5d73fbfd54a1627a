/** A failed request: an error response, or no response at all. */
export class ApiFailure extends Error {
  /** HTTP status; 0 = the server did not respond. */
  readonly status: number;
  /** Code of the error catalogue, or UNREACHABLE, or UNEXPECTED_RESPONSE. */
  readonly code: string;
  readonly requestId: string | null;
  /** Milliseconds to wait before a retry, from the Retry-After header. */
  readonly retryAfterMs: number | null;

  constructor(message: string, facts: Pick<ApiFailure, 'status' | 'code' | 'requestId' | 'retryAfterMs'>) {
    super(message);
    this.name = 'ApiFailure';
    this.status = facts.status;
    this.code = facts.code;
    this.requestId = facts.requestId;
    this.retryAfterMs = facts.retryAfterMs;
  }
}

export const isFailure = (error: unknown, code?: string): error is ApiFailure =>
  error instanceof ApiFailure && (code === undefined || error.code === code);

/** Returns the failure for a request that got no response. */
export const unreachable = (): ApiFailure =>
  new ApiFailure('The server does not respond. Check the network and whether the service runs.', {
    status: 0,
    code: 'UNREACHABLE',
    requestId: null,
    retryAfterMs: null,
  });

/** Returns the failure of an error response. Responses of a proxy have no error body, or that of the proxy. */
export async function failureOf(response: Response): Promise<ApiFailure> {
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
  const facts = {
    status: response.status,
    requestId: response.headers.get('x-request-id'),
    retryAfterMs: Number.isFinite(seconds) ? seconds * 1_000 : null,
  };
  const body = (await response.json().catch(() => null)) as { error?: unknown; code?: unknown } | null;
  if (typeof body?.error === 'string' && typeof body.code === 'string') {
    return new ApiFailure(body.error, { ...facts, code: body.code });
  }
  const message = `The request failed with status ${response.status}. The response has no reason: it may be that of a proxy before the service.`;
  return new ApiFailure(message, { ...facts, code: 'UNEXPECTED_RESPONSE' });
}
