import type { IncomingMessage } from 'node:http';
import { type AnyRoute, DEFAULT_REFUSALS, isRawBody, type Refusal } from '@pipeline/contract';
import { AppError, hasUnstorableEscape, sanitizeJson } from '@pipeline/domain';
import type { z } from 'zod';
import { readBytes } from './body-bytes.ts';
import type { BodyMemory } from './body-memory.ts';
import { isTooDeep } from './json-depth.ts';
import type { RequestScope } from './request-scope.ts';
import { isStorableQuery, sanitizeForm, unstorableIn } from './text-stage.ts';

type Read = (scope: RequestScope) => Promise<unknown>;

const refuse = (refusal: Refusal, problem: string, detail?: unknown) =>
  new AppError(refusal.code, refusal.message ?? problem, { detail });

/** The path parameters, checked. @throws AppError as the route declares. */
export function readParams(route: AnyRoute, raw: Readonly<Record<string, string | string[]>>): unknown {
  if (!route.params) return {};
  const joined = Object.entries(raw).map(([name, value]) => [name, Array.isArray(value) ? value.join('/') : value]);
  const refusal = route.refusals.params ?? DEFAULT_REFUSALS.params;
  const unstorable = unstorableIn(Object.fromEntries(joined));
  if (unstorable !== null) throw refuse(refusal, unstorable);
  const parsed = route.params.safeParse(Object.fromEntries(joined));
  if (parsed.success) return parsed.data;
  throw refuse(refusal, firstProblem(parsed.error));
}

/** The query, checked; a name given twice is a list. @throws AppError as the route declares. */
export function readQuery(route: AnyRoute, url: string): unknown {
  const at = url.indexOf('?');
  const text = at === -1 ? '' : url.slice(at + 1);
  const refusal = route.refusals.query ?? DEFAULT_REFUSALS.query;
  // Also where the route declares no query: the OAuth library reads its own.
  if (!isStorableQuery(text)) throw refuse(refusal, 'the query must hold no NUL');
  if (!route.query) return {};
  const given = new URLSearchParams(text);
  const names = [...new Set(given.keys())].filter((name) => route.query && name in route.query.shape);
  const values = names.map((name) => {
    const all = given.getAll(name);
    return [name, all.length === 1 ? all[0] : all];
  });
  const parsed = route.query.safeParse(Object.fromEntries(values));
  if (parsed.success) return parsed.data;
  throw refuse(refusal, firstProblem(parsed.error));
}

interface BodyStage {
  requireJsonType: boolean;
  memory: BodyMemory;
  timeoutMs: number;
}

/**
 * Makes the reader of a route's body.
 * @returns a function that gives the parsed body, its bytes where it is raw, or undefined where the route has none.
 */
export function bodyReader(route: AnyRoute, { requireJsonType, ...stage }: BodyStage): Read {
  const { body, bodyLimit: limit } = route;
  if (!body) return async () => undefined;
  // Nothing is inflated for callers who were not authenticated.
  const decodes = route.auth !== 'none' && route.auth !== 'signature';
  const rules = { ...stage, limit, decodes };
  if (isRawBody(body)) {
    const isForm = body.type === 'application/x-www-form-urlencoded';
    return async (scope) => {
      const bytes = await readBytes(scope, rules);
      return isForm ? sanitizeForm(bytes) : bytes;
    };
  }
  return async (scope) => {
    if (requireJsonType && hasBody(scope.request)) requireJson(scope.request);
    const bytes = await readBytes(scope, rules);
    return checkBody(route, body, bytes.length === 0 && route.bodyOptional ? {} : parseJson(route, bytes));
  };
}

const hasBody = ({ headers }: IncomingMessage) =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

function requireJson({ headers }: IncomingMessage): void {
  const type = headers['content-type']?.split(';')[0]?.trim().toLowerCase();
  if (type !== 'application/json')
    throw new AppError('UNSUPPORTED_MEDIA_TYPE', 'Content-Type must be application/json');
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

function parseJson(route: AnyRoute, bytes: Uint8Array): unknown {
  if (isTooDeep(bytes)) throw refuse(route.refusals.json ?? DEFAULT_REFUSALS.json, 'JSON nested too deeply');
  let text: string;
  let value: unknown;
  try {
    text = utf8.decode(bytes);
    value = JSON.parse(text);
  } catch (error) {
    throw refuse(route.refusals.json ?? DEFAULT_REFUSALS.json, 'Invalid JSON body', String(error));
  }
  return hasUnstorableEscape(text) ? storableBody(route, value) : value;
}

/** @throws AppError as the route declares for the top-level field that holds such text. */
function storableBody(route: AnyRoute, value: unknown): unknown {
  if (route.unstorableText === 'replace') return sanitizeJson(value);
  const fields = Array.isArray(value) || typeof value !== 'object' || value === null ? { '': value } : value;
  for (const [field, inner] of Object.entries(fields)) {
    const problem = unstorableIn({ [field]: inner });
    if (problem !== null) throw refuse(bodyRefusal(route, field), problem);
  }
  return value;
}

const bodyRefusal = ({ refusals }: AnyRoute, field: string): Refusal =>
  refusals.fields?.[field] ?? refusals.body ?? DEFAULT_REFUSALS.body;

function checkBody(route: AnyRoute, schema: z.ZodType, value: unknown): unknown {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  // Problems come in the order of the declared fields, so the first one is the first field that is wrong.
  const field = String(parsed.error.issues[0]?.path[0] ?? '');
  throw refuse(bodyRefusal(route, field), firstProblem(parsed.error));
}

function firstProblem({ issues }: z.ZodError): string {
  const [issue] = issues;
  if (!issue) return 'Invalid request';
  const where = issue.path.join('.');
  if (where === '') return issue.message;
  if (issue.code === 'invalid_type' && issue.message.endsWith('received undefined')) return `${where} is required`;
  return `${where}: ${issue.message}`;
}
