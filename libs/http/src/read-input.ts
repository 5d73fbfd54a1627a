import type { IncomingMessage, ServerResponse } from 'node:http';
import { type AnyRoute, DEFAULT_REFUSALS, isRawBody, type Refusal } from '@pipeline/contract';
import { AppError } from '@pipeline/domain';
import express from 'express';
import type { z } from 'zod';

type Read = (request: IncomingMessage, response: ServerResponse) => Promise<unknown>;

const refuse = (refusal: Refusal, problem: string, detail?: unknown) =>
  new AppError(refusal.code, refusal.message ?? problem, { detail });

/** The path parameters, checked. @throws AppError as the route declares. */
export function readParams(route: AnyRoute, raw: Readonly<Record<string, string | string[]>>): unknown {
  if (!route.params) return {};
  const joined = Object.entries(raw).map(([name, value]) => [name, Array.isArray(value) ? value.join('/') : value]);
  const parsed = route.params.safeParse(Object.fromEntries(joined));
  if (parsed.success) return parsed.data;
  throw refuse(route.refusals.params ?? DEFAULT_REFUSALS.params, firstProblem(parsed.error));
}

/** The query, checked; a name given twice is a list. @throws AppError as the route declares. */
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
  if (parsed.success) return parsed.data;
  throw refuse(route.refusals.query ?? DEFAULT_REFUSALS.query, firstProblem(parsed.error));
}

/**
 * Makes the reader of a route's body.
 * @returns a function that gives the parsed body, its bytes where it is raw, or undefined where the route has none.
 */
export function bodyReader(route: AnyRoute, requireJsonType: boolean): Read {
  const { body } = route;
  if (!body) return async () => undefined;
  const readBytes = bytesReader(route.bodyLimit);
  if (isRawBody(body)) return readBytes;
  return async (request, response) => {
    if (requireJsonType && hasBody(request)) requireJson(request);
    const bytes = await readBytes(request, response);
    return checkBody(route, body, bytes.length === 0 && route.bodyOptional ? {} : parseJson(route, bytes));
  };
}

function bytesReader(limit: number) {
  const parser = express.raw({ type: () => true, limit });
  return (request: IncomingMessage, response: ServerResponse): Promise<Uint8Array> =>
    new Promise((resolve, reject) => {
      parser(request, response, (error?: unknown) => {
        const { body } = request as { body?: unknown };
        if (error) reject(bodyError(error, limit));
        else resolve(body instanceof Uint8Array ? body : new Uint8Array());
      });
    });
}

function bodyError(error: unknown, limit: number): unknown {
  const { type, message } = error as { type?: string; message?: string };
  if (type === 'entity.too.large') return new AppError('PAYLOAD_TOO_LARGE', `Request body larger than ${limit} bytes`);
  if (type === 'encoding.unsupported') return new AppError('UNSUPPORTED_MEDIA_TYPE', message ?? '', { cause: error });
  if (type?.startsWith('request.')) return new AppError('INVALID_INPUT', `Request body: ${message}`, { cause: error });
  return error;
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
  try {
    return JSON.parse(utf8.decode(bytes));
  } catch (error) {
    throw refuse(route.refusals.json ?? DEFAULT_REFUSALS.json, 'Invalid JSON body', String(error));
  }
}

function checkBody(route: AnyRoute, schema: z.ZodType, value: unknown): unknown {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  // Problems come in the order of the declared fields, so the first one is the first field that is wrong.
  const field = String(parsed.error.issues[0]?.path[0] ?? '');
  const refusal = route.refusals.fields?.[field] ?? route.refusals.body ?? DEFAULT_REFUSALS.body;
  throw refuse(refusal, firstProblem(parsed.error));
}

function firstProblem({ issues }: z.ZodError): string {
  const [issue] = issues;
  if (!issue) return 'Invalid request';
  const where = issue.path.join('.');
  if (where === '') return issue.message;
  if (issue.code === 'invalid_type' && issue.message.endsWith('received undefined')) return `${where} is required`;
  return `${where}: ${issue.message}`;
}
