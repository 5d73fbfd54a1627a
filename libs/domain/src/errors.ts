/**
 * The closed set of error codes. Domain and store throw them; libs/contract gives each its status and public text; only
 * libs/http writes them to a response.
 */
export const ERROR_CODES = [
  'AUTH_REQUIRED',
  'AUTH_FAILED',
  'INSUFFICIENT_SCOPE',
  'ORIGIN_NOT_ALLOWED',
  'HOST_NOT_ALLOWED',
  'INVALID_JSON',
  'INVALID_BODY',
  'INVALID_INPUT',
  'INVALID_ISSUE_NUMBER',
  'INVALID_STATE',
  'INVALID_ARGUMENT',
  'INVALID_TRANSITION',
  'INVALID_SIGNATURE',
  'WORKFLOW_UNAVAILABLE',
  'ISSUE_NOT_FOUND',
  'REPO_NOT_FOUND',
  'TRACK_NOT_FOUND',
  'SNAPSHOT_NOT_FOUND',
  'DEAD_LETTER_NOT_FOUND',
  'CONSISTENCY_FINDING_NOT_FOUND',
  'NOT_FOUND',
  'CLAIM_LOST',
  'CREDENTIALS_UNAVAILABLE',
  'HOST_UNAVAILABLE',
  'TASK_CANCELLED',
  'PAYLOAD_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
  'REQUEST_TIMEOUT',
  'RATE_LIMITED',
  'OVERLOADED',
  'STORE_UNAVAILABLE',
  'INTERNAL_ERROR',
  'RECLAIM_FAILED',
  'CONFIG_LOAD_FAILED',
  'CONFIG_VALIDATION_FAILED',
  'NO_CONFIG_FILE',
  'STRATEGY_APPLY_FAILED',
  'SSE_UNAVAILABLE',
] as const;

export type ErrorCode = (typeof ERROR_CODES)[number];

/**
 * A failure that is reported to a caller by its code. `message` is public; `detail` is for operators and only logged.
 */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly detail: unknown;

  constructor(code: ErrorCode, message: string, options: { detail?: unknown; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'AppError';
    this.code = code;
    this.detail = options.detail;
  }
}
