import { errorsOf } from './declared-errors.ts';
import { ApiError } from './envelopes.ts';
import { STATUS_OF } from './errors.ts';
import { matchRoute } from './match.ts';
import type { AnyRoute, Reply } from './route.ts';
import { isOfFamily, type Surface } from './surface.ts';

/** A response recorded by a test. `body` is the raw text. */
export interface SeenAnswer {
  method: string;
  path: string;
  status: number;
  headers: Headers;
  body: string;
}

/**
 * Checks a response against the declarations: status, content type, headers, all declared fields and no others.
 * @returns one line per violation; empty when the response is as declared.
 */
export function checkAnswer(surface: Surface, answer: SeenAnswer): string[] {
  const route = matchRoute(surface.routes, answer.method, answer.path);
  const where = `${answer.method.toUpperCase()} ${answer.path} -> ${answer.status}`;
  const problems = route ? checkOn(surface, route, answer) : checkUnknown(surface, answer);
  return problems.map((problem) => `${where}: ${problem}`);
}

function checkOn(surface: Surface, route: AnyRoute, answer: SeenAnswer): string[] {
  const reply = route.replies[answer.status];
  // An HTML route and a middleware stage before it (ApiError) may use the same status.
  if (!reply || isApiErrorOf(reply, answer)) return checkError(surface, route, answer);
  return [...checkHeaders(reply, answer), ...(answer.method.toLowerCase() === 'head' ? [] : checkText(reply, answer))];
}

function isApiErrorOf(reply: Reply, { headers, status }: SeenAnswer): boolean {
  return status >= 400 && reply.type === 'text/html' && bare(headers.get('content-type')) === 'application/json';
}

function checkHeaders(reply: Reply, { headers }: SeenAnswer): string[] {
  const problems = [];
  const wanted = reply.body || reply.streamed ? (reply.type ?? 'application/json') : undefined;
  const type = headers.get('content-type');
  if (wanted && wanted !== '*/*' && bare(type) !== bare(wanted))
    problems.push(`content type is ${type}, expected ${wanted}`);
  for (const [name, { schema }] of Object.entries(reply.headers ?? {})) {
    const value = headers.get(name) ?? undefined;
    if (!schema.safeParse(value).success) problems.push(`header ${name} is ${value}`);
  }
  return problems;
}

function checkText(reply: Reply, answer: SeenAnswer): string[] {
  if (reply.streamed) return [];
  if (!reply.body) return answer.body === '' ? [] : ['has a body, none is declared'];
  if (reply.type && !reply.type.includes('json')) return checkBody(reply, answer.body);
  const parsed = parseJson(answer.body);
  return parsed.ok ? checkBody(reply, parsed.value) : ['body is not JSON'];
}

/** Checks a body against a reply's schema. @returns one line per violation, including undeclared fields. */
export function checkBody(reply: Reply, body: unknown): string[] {
  if (!reply.body) return body === undefined ? [] : ['has a body, none is declared'];
  const parsed = reply.body.safeParse(body);
  if (parsed.success) return undeclared(body, parsed.data, 'body');
  return parsed.error.issues.map((issue) => `${['body', ...issue.path].join('.')}: ${issue.message}`);
}

// Response schemas contain no transforms, so every field dropped by parsing is undeclared.
function undeclared(sent: unknown, kept: unknown, path: string): string[] {
  if (typeof sent !== 'object' || sent === null || typeof kept !== 'object' || kept === null) return [];
  const known = kept as Record<string, unknown>;
  return Object.entries(sent).flatMap(([key, value]) =>
    key in known
      ? undeclared(value, known[key], `${path}.${key}`)
      : value === undefined
        ? []
        : [`${path}.${key} is not declared`],
  );
}

function checkError(surface: Surface, route: AnyRoute, answer: SeenAnswer): string[] {
  const declared = errorsOf(surface, route).filter((error) => error.status === answer.status);
  if (declared.length === 0) return ['status is not declared'];
  return checkApiError(
    answer,
    declared.map((error) => error.code),
  );
}

const UNKNOWN_PATH_CODES = [
  'NOT_FOUND',
  'AUTH_REQUIRED',
  'AUTH_FAILED',
  'HOST_NOT_ALLOWED',
  'INVALID_INPUT',
  'RATE_LIMITED',
];

function checkUnknown(surface: Surface, answer: SeenAnswer): string[] {
  const family = surface.fallbacks.filter((fallback) => isOfFamily(fallback, answer.path));
  if (
    answer.body === '' &&
    family.some((fallback) => fallback.emptyBody && answer.status === STATUS_OF[fallback.refusal.code])
  )
    return [];
  if (surface.pageForUnknownPath && answer.status === 404 && bare(answer.headers.get('content-type')) === 'text/html')
    return answer.path.startsWith('/api/') ? ['an unknown API path returns an HTML page'] : [];
  return checkApiError(answer, [...UNKNOWN_PATH_CODES, ...family.map((fallback) => fallback.refusal.code)]);
}

function checkApiError(answer: SeenAnswer, codes: readonly string[]): string[] {
  if (answer.method.toLowerCase() === 'head') return [];
  const parsed = parseJson(answer.body);
  const error = parsed.ok ? ApiError.strict().safeParse(parsed.value) : undefined;
  if (!error?.success) return [`body is not an ApiError: ${answer.body.slice(0, 200)}`];
  const problems = [];
  if (error.data.status !== answer.status) problems.push(`status in the body is ${error.data.status}`);
  if (!codes.includes(error.data.code)) problems.push(`code ${error.data.code} is not declared`);
  if (bare(answer.headers.get('content-type')) !== 'application/json') problems.push('an error is not sent as JSON');
  return problems;
}

const bare = (type: string | null): string => (type ?? '').split(';')[0]?.trim().toLowerCase() ?? '';

function parseJson(text: string): { ok: true; value: unknown } | { ok: false } {
  try {
    return { ok: true, value: JSON.parse(text) };
  } catch {
    return { ok: false };
  }
}
