import { ERROR_CODES, type ErrorCode } from '@pipeline/domain';

interface ErrorEntry {
  status: number;
  /** What a caller reads when the place that failed has nothing more exact to say. */
  text: string;
  /** For docs/errors.md: when it happens and what to do. */
  meaning: string;
}

const entry = (status: number, text: string, meaning: string): ErrorEntry => ({ status, text, meaning });

/** Every error that either surface may answer. A route may give a code another status where the interface says so. */
export const errorCatalogue: Record<ErrorCode, ErrorEntry> = {
  AUTH_REQUIRED: entry(
    401,
    'Authentication required',
    'No credentials were sent, or the session has ended. Send them.',
  ),
  AUTH_FAILED: entry(401, 'Authentication failed', 'The credentials are wrong, expired, revoked or of another kind.'),
  INSUFFICIENT_SCOPE: entry(403, 'Insufficient scope', 'The token is good but does not reach this resource.'),
  ORIGIN_NOT_ALLOWED: entry(
    403,
    'The request comes from a page of another site',
    'A browser sent it for a page of another origin, and it would change something. Open the page of this service itself.',
  ),
  HOST_NOT_ALLOWED: entry(
    403,
    'The Host header is not a name of this service',
    'Authentication is off, so only addresses and configured names are served. Add the name to ALLOWED_HOSTS.',
  ),
  INVALID_JSON: entry(400, 'Invalid JSON body', 'The body is not JSON. Check quoting and encoding.'),
  INVALID_BODY: entry(
    400,
    'Invalid request body',
    'A field of the body is missing or has a wrong value; the text names it.',
  ),
  INVALID_INPUT: entry(
    400,
    'Invalid request',
    'A path segment or query parameter has a wrong value; the text names it.',
  ),
  INVALID_ISSUE_NUMBER: entry(400, 'Invalid issue number', 'The issue number is not a positive integer.'),
  INVALID_STATE: entry(
    400,
    'targetState must be a state name',
    'The target state of a transition is missing or no text.',
  ),
  INVALID_ARGUMENT: entry(
    400,
    'Invalid argument',
    'An argument is missing or blank, or the target cannot be acted on.',
  ),
  INVALID_TRANSITION: entry(
    400,
    'Invalid transition',
    'The target is not reachable from here; the text lists what is.',
  ),
  INVALID_SIGNATURE: entry(
    401,
    'Invalid signature',
    'The signature does not match the body. Compare the webhook secrets.',
  ),
  WORKFLOW_UNAVAILABLE: entry(
    400,
    'No active workflow for this repo',
    'The repo has no active workflow. Activate one.',
  ),
  ISSUE_NOT_FOUND: entry(404, 'Issue not found', 'The pipeline has no record of this issue.'),
  REPO_NOT_FOUND: entry(404, 'Repo not found', 'The repo is not enabled, or the caller does not reach it.'),
  TRACK_NOT_FOUND: entry(404, 'Track not found', 'The repo has no track of that name.'),
  SNAPSHOT_NOT_FOUND: entry(404, 'Snapshot not found', 'The repo has no strategy snapshot of that version.'),
  DEAD_LETTER_NOT_FOUND: entry(404, 'Dead letter not found', 'No unresolved dead letter has that id.'),
  CONSISTENCY_FINDING_NOT_FOUND: entry(
    404,
    'Consistency finding not found',
    'No finding has that id, or another repair mends it.',
  ),
  NOT_FOUND: entry(404, 'No matching route', 'The path and method name nothing that is served here.'),
  CLAIM_LOST: entry(
    409,
    'The claim is no longer held',
    'The lease ended or the task was reclaimed. Drop the work; claim anew.',
  ),
  CREDENTIALS_UNAVAILABLE: entry(
    404,
    'No credentials for this repository',
    'No GitHub App serves the repository, or it lacks the right. Go on with what git has of its own.',
  ),
  HOST_UNAVAILABLE: entry(503, 'The version-control host does not answer', 'Ask again after a pause.'),
  TASK_CANCELLED: entry(410, 'The task was cancelled', 'The task was withdrawn. Drop the work; nothing was changed.'),
  PAYLOAD_TOO_LARGE: entry(413, 'Request body too large', 'The body is larger than the route takes. Send less.'),
  UNSUPPORTED_MEDIA_TYPE: entry(
    415,
    'Content type or content encoding not supported',
    'Send the Content-Type that the route takes, and no Content-Encoding or one that it takes.',
  ),
  REQUEST_TIMEOUT: entry(408, 'The request took too long to arrive', 'Send the whole request without pauses.'),
  RATE_LIMITED: entry(429, 'Too many requests', 'Wait for the seconds in Retry-After.'),
  OVERLOADED: entry(
    503,
    'Too many request bodies at a time',
    'The request bodies in flight fill the memory set aside for them. Wait for the seconds in Retry-After.',
  ),
  STORE_UNAVAILABLE: entry(
    503,
    'Pipeline store not available',
    'The database is not configured or not reachable. Try later.',
  ),
  INTERNAL_ERROR: entry(
    500,
    'Internal server error',
    'An unexpected failure. The log has the cause under the request id.',
  ),
  RECLAIM_FAILED: entry(
    500,
    'Failed to reclaim the task',
    'The stalled task could not be reset. The log has the cause.',
  ),
  CONFIG_LOAD_FAILED: entry(400, 'The configuration file could not be read', 'The file is missing or does not parse.'),
  CONFIG_VALIDATION_FAILED: entry(
    400,
    'The configuration is not valid',
    'The text names the keys. Nothing was changed.',
  ),
  NO_CONFIG_FILE: entry(409, 'No configuration file to reload', 'The service runs on its built-in default.'),
  STRATEGY_APPLY_FAILED: entry(422, 'The snapshot cannot be applied', 'It is stale, or beyond the risk envelope.'),
  SSE_UNAVAILABLE: entry(503, 'Event stream not available', 'The stream is not running. Try later.'),
};

/** The HTTP status that a code has unless the route says otherwise. */
export const STATUS_OF = Object.fromEntries(ERROR_CODES.map((code) => [code, errorCatalogue[code].status])) as Record<
  ErrorCode,
  number
>;
