import type { IncomingMessage } from 'node:http';
import { type AnyRoute, DEFAULT_REFUSALS, isRawBody, type Refusal } from '@pipeline/contract';
import { AppError, hasUnstorableEscape, hasWideNumber, isStorable, sanitizeJson } from '@pipeline/domain';
import type { z } from 'zod';
import type { RequestScope } from '../request/request-scope.ts';
import { readBytes } from './body-bytes.ts';
import type { BodyMemory } from './body-memory.ts';

const PROBLEM = 'must not contain NUL or unpaired surrogates';

type Read = (scope: RequestScope) => Promise<unknown>;

const refuse = (refusal: Refusal, problem: string, detail?: unknown) =>
  new AppError(refusal.code, refusal.message ?? problem, { detail });

/** Returns the validated path parameters. @throws AppError as declared by the route. */
export function readParams(route: AnyRoute, raw: Readonly<Record<string, string | string[]>>): unknown {
  if (!route.params) return {};
  const joined = Object.entries(raw).map(([name, value]) => [name, Array.isArray(value) ? value.join('/') : value]);
  const parsed = route.params.safeParse(Object.fromEntries(joined));
  if (parsed.success) return storableInput(parsed.data);
  throw refuse(route.refusals.params ?? DEFAULT_REFUSALS.params, firstProblem(parsed.error));
}

/** Returns the validated query; a repeated name becomes a list. @throws AppError as declared by the route. */
export function readQuery(route: AnyRoute, url: string): unknown {
  if (!route.query) return {};
  const at = url.indexOf('?');
  const given = new URLSearchParams(at === -1 ? '' : url.slice(at + 1));
  const names = [...new Set(given.keys())].filter((name) => route.query && name in route.query.shape);
  const values = names.map((name) => {
    const all = given.getAll(name);
    return [name, all.length === 1 ? all[0] : all];
  });
  const parsed = route.query.safeParse(Object.fromEntries(values));
  if (parsed.success) return storableInput(parsed.data);
  const [wrong] = parsed.error.issues[0]?.path ?? [];
  const times = given.getAll(String(wrong)).length;
  const problem = times > 1 ? `${String(wrong)} is given ${times} times; give it once` : firstProblem(parsed.error);
  throw refuse(route.refusals.query ?? DEFAULT_REFUSALS.query, problem);
}

/**
 * Replaces NUL in names and filters by U+FFFD where the schema accepts it: such a value matches nothing, and the route
 * responds as for an unknown name.
 */
const storableInput = (data: object): unknown => (unstorableIn(data) === null ? data : sanitizeJson(data));

interface BodyStage {
  requireJsonType: boolean;
  memory: BodyMemory;
  timeoutMs: number;
}

/**
 * Creates the body reader of a route.
 * @returns a function that returns the parsed body, the bytes of a raw body, or undefined for a route without a body.
 */
export function bodyReader(route: AnyRoute, { requireJsonType, ...stage }: BodyStage): Read {
  const { body, bodyLimit: limit } = route;
  if (!body) return async () => undefined;
  // Bodies of unauthenticated callers are not decompressed.
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
    const isAbsent = bytes.length === 0 && route.bodyOptional;
    return isAbsent ? checkBody(route, body, {}) : readJson(route, body, bytes);
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

function readJson(route: AnyRoute, schema: z.ZodType, bytes: Uint8Array): unknown {
  const { text, value } = parseJson(route, bytes);
  const replaces = route.unstorableText === 'replace';
  if (replaces && (hasUnstorableEscape(text) || hasWideNumber(text)))
    return checkBody(route, schema, sanitizeJson(value));
  if (replaces || !hasUnstorableEscape(text)) return checkBody(route, schema, value);
  // After the schema check, which may have a more specific message.
  return requireStorable(route, checkBody(route, schema, value));
}

function parseJson(route: AnyRoute, bytes: Uint8Array): { text: string; value: unknown } {
  if (isTooDeep(bytes)) throw refuse(route.refusals.json ?? DEFAULT_REFUSALS.json, 'JSON nested too deeply');
  try {
    const text = utf8.decode(bytes);
    return { text, value: JSON.parse(text) };
  } catch (error) {
    throw refuse(route.refusals.json ?? DEFAULT_REFUSALS.json, 'Invalid JSON body', String(error));
  }
}

/** @throws AppError with the code that the route declares for the top-level field with the text. */
function requireStorable(route: AnyRoute, body: unknown): unknown {
  for (const [field, inner] of Object.entries(body as object)) {
    const problem = unstorableIn({ [field]: inner });
    if (problem !== null) throw new AppError(bodyRefusal(route, field).code, problem);
  }
  return body;
}

const bodyRefusal = ({ refusals }: AnyRoute, field: string): Refusal =>
  refusals.fields?.[field] ?? refusals.body ?? DEFAULT_REFUSALS.body;

function checkBody(route: AnyRoute, schema: z.ZodType, value: unknown): unknown {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  // Schema issues are ordered by declared field, so the first issue is the first invalid field.
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

/** Maximum nesting of a body. Functions that read and store JSON recurse once per level. */
const MAX_JSON_DEPTH = 64;

const [QUOTE, BACKSLASH] = [0x22, 0x5c];
const OPENING = new Set([0x5b, 0x7b]);
const CLOSING = new Set([0x5d, 0x7d]);

/** Returns whether JSON text nests arrays and objects deeper than MAX_JSON_DEPTH. One pass over the bytes, without parsing. */
function isTooDeep(bytes: Uint8Array): boolean {
  let depth = 0;
  for (let index = 0; index < bytes.length; index += 1) {
    const byte = bytes[index] ?? 0;
    if (byte === QUOTE) index = endOfString(bytes, index);
    else if (OPENING.has(byte)) depth += 1;
    else if (CLOSING.has(byte)) depth -= 1;
    if (depth > MAX_JSON_DEPTH) return true;
  }
  return false;
}

/** Returns the index of the quotation mark that ends the string starting at `start`. */
function endOfString(bytes: Uint8Array, start: number): number {
  let index = start + 1;
  while (index < bytes.length && bytes[index] !== QUOTE) index += bytes[index] === BACKSLASH ? 2 : 1;
  return index;
}

/** Returns the problem of the texts and keys of a JSON value, or null. */
function unstorableIn(value: unknown, path: readonly string[] = []): string | null {
  if (typeof value === 'string') return isStorable(value) ? null : [path.join('.'), PROBLEM].filter(Boolean).join(': ');
  if (typeof value !== 'object' || value === null) return null;
  for (const [key, inner] of Object.entries(value)) {
    if (!isStorable(key)) return `${[...path, 'a key'].join('.')}: ${PROBLEM}`;
    const problem = unstorableIn(inner, [...path, key]);
    if (problem !== null) return problem;
  }
  return null;
}

/** Returns the form with U+FFFD for each NUL, so that the page handles the input. */
export function sanitizeForm(bytes: Uint8Array): Uint8Array {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
  return /%00|\0/.test(text) ? Buffer.from(sanitizeUrlText(text), 'latin1') : bytes;
}

/** Percent-decoding replaces invalid UTF-8 by U+FFFD, so NUL is the only unstorable character in a query. */
export const sanitizeUrlText = (text: string): string => text.replace(/%00|\0/g, '%EF%BF%BD');
