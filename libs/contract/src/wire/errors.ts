import { ERROR_CODES, type ErrorCode } from '@pipeline/domain';

interface ErrorEntry {
  status: number;
  /** Default message of the error. */
  text: string;
  /** Text for docs/errors.md: when the error occurs and what the caller should do. */
  meaning: string;
}

const entry = (status: number, text: string, meaning: string): ErrorEntry => ({ status, text, meaning });

/** Errors of both surfaces. A route may override the status of a code where the interface requires it. */
export const errorCatalogue: Record<ErrorCode, ErrorEntry> = {
  AUTH_REQUIRED: entry(
    401,
    'Authentication required',
    'The request has no credentials, or the session has expired. Send valid credentials.',
  ),
  AUTH_FAILED: entry(401, 'Authentication failed', 'The credentials are wrong, expired, revoked or of the wrong type.'),
  INSUFFICIENT_SCOPE: entry(
    403,
    'Insufficient scope',
    'The token is valid but does not grant access to this resource.',
  ),
  ORIGIN_NOT_ALLOWED: entry(
    403,
    'Cross-origin request not allowed',
    'A browser sent a state-changing request from a page of another origin. Send it from a page of this service.',
  ),
  HOST_NOT_ALLOWED: entry(
    403,
    'Host header not allowed',
    'While authentication is off, the service accepts only IP addresses, localhost and the names in ALLOWED_HOSTS. Add the name to ALLOWED_HOSTS.',
  ),
  INVALID_JSON: entry(400, 'Invalid JSON body', 'The body is not valid JSON. Check quoting and encoding.'),
  INVALID_BODY: entry(
    400,
    'Invalid request body',
    'A field of the body is missing or invalid. The message names the field.',
  ),
  INVALID_INPUT: entry(400, 'Invalid request', 'A path segment or query parameter is invalid. The message names it.'),
  INVALID_ISSUE_NUMBER: entry(400, 'Invalid issue number', 'The issue number is not a positive integer.'),
  INVALID_STATE: entry(
    400,
    'targetState must be a state name',
    'The target state of a transition is missing or not a string.',
  ),
  INVALID_ARGUMENT: entry(
    400,
    'Invalid argument',
    'An argument is missing or blank, or the action does not apply to the target.',
  ),
  INVALID_TRANSITION: entry(
    400,
    'Invalid transition',
    'The target is not reachable from the current state or status. For issues, the message lists the valid targets.',
  ),
  INVALID_SIGNATURE: entry(
    401,
    'Invalid signature',
    'The signature does not match the body. Check that both sides use the same webhook secret.',
  ),
  WORKFLOW_UNAVAILABLE: entry(
    400,
    'No active workflow for this repo',
    'The repo has no active workflow. Activate a workflow.',
  ),
  ISSUE_NOT_FOUND: entry(404, 'Issue not found', 'The pipeline has no record of this issue.'),
  REPO_NOT_FOUND: entry(404, 'Repo not found', 'The repo is not enabled, or the caller has no access to it.'),
  TRACK_NOT_FOUND: entry(404, 'Track not found', 'The repo has no track with this name.'),
  SNAPSHOT_NOT_FOUND: entry(404, 'Snapshot not found', 'The repo has no strategy snapshot with this version.'),
  DEAD_LETTER_NOT_FOUND: entry(404, 'Dead letter not found', 'No unresolved dead letter has this id.'),
  CONSISTENCY_FINDING_NOT_FOUND: entry(
    404,
    'Consistency finding not found',
    'No finding has this id, or its kind needs a different repair.',
  ),
  NOT_FOUND: entry(
    404,
    'No matching route',
    'No route matches the path and method, or the named resource does not exist.',
  ),
  CLAIM_LOST: entry(
    409,
    'The claim is no longer held',
    'The lease expired or the task was reclaimed. Discard the work and claim again.',
  ),
  CREDENTIALS_UNAVAILABLE: entry(
    404,
    'No credentials for this repository',
    'No GitHub App is installed for the repository, or it lacks a permission. Use the git credentials of the worker machine.',
  ),
  HOST_UNAVAILABLE: entry(503, 'Version-control host not available', 'The host did not respond. Retry later.'),
  TASK_CANCELLED: entry(
    410,
    'The task was cancelled',
    'The task was cancelled. Discard the work. The report changed nothing.',
  ),
  PAYLOAD_TOO_LARGE: entry(
    413,
    'Request body too large',
    'The body exceeds the limit of the route. Send a smaller body.',
  ),
  UNSUPPORTED_MEDIA_TYPE: entry(
    415,
    'Content type or content encoding not supported',
    'The route does not accept this Content-Type or Content-Encoding. Send a supported type, and no encoding or a supported one.',
  ),
  REQUEST_TIMEOUT: entry(408, 'Request timeout', 'The request body did not arrive in time. Send it without pauses.'),
  RATE_LIMITED: entry(429, 'Too many requests', 'Wait for the number of seconds in Retry-After, then retry.'),
  OVERLOADED: entry(
    503,
    'Too many concurrent request bodies',
    'Request bodies in flight exceed their memory limit. Wait for the number of seconds in Retry-After, then retry.',
  ),
  STORE_UNAVAILABLE: entry(
    503,
    'Pipeline store not available',
    'The database is not configured or not reachable. Retry later.',
  ),
  INTERNAL_ERROR: entry(
    500,
    'Internal server error',
    'An unexpected failure. The service logs the cause with the request id.',
  ),
  RECLAIM_FAILED: entry(
    500,
    'Failed to reclaim the task',
    'The stalled task could not be reset. The service logs the cause with the request id.',
  ),
  CONFIG_LOAD_FAILED: entry(
    400,
    'The configuration file could not be read',
    'The file is missing or cannot be parsed.',
  ),
  CONFIG_VALIDATION_FAILED: entry(
    400,
    'The configuration is not valid',
    'The message names the invalid keys. The configuration is unchanged.',
  ),
  NO_CONFIG_FILE: entry(
    409,
    'No configuration file to reload',
    'The service runs on its built-in default configuration. Set PIPELINE_CONFIG to a file path.',
  ),
  STRATEGY_APPLY_FAILED: entry(
    422,
    'The snapshot cannot be applied',
    'The snapshot is stale or exceeds the risk envelope of the charter.',
  ),
  SSE_UNAVAILABLE: entry(503, 'Event stream not available', 'The event stream is not running. Retry later.'),
};

/** Default HTTP status of each error code. */
export const STATUS_OF = Object.fromEntries(ERROR_CODES.map((code) => [code, errorCatalogue[code].status])) as Record<
  ErrorCode,
  number
>;
