import { type AnyRoute, isRawBody, matchRoute, type Surface } from '@pipeline/contract';
import { isStorable } from '@pipeline/domain';
import fc from 'fast-check';
import type { z } from 'zod';
import { addressOf, type PlannedRequest } from '../target/planned-request.ts';
import { acceptedTexts } from './field-texts.ts';
import { accepts, type KnownValues, valueArbitrary } from './value-arbitrary.ts';

/** Milliseconds that a generated claim waits at most: the declared 30 s would only hold the run up. */
const LONGEST_WAIT = 20;

/** A valid request, with the JSON body before it is written as text. */
export interface ValidRequest extends PlannedRequest {
  readonly json?: unknown;
}

/**
 * Requests that the declarations of a route accept in every part. Bodies of routes that take bytes are JSON of their
 * declared schema, or any form.
 * @throws Error for a route that it can make no request for.
 */
export function validRequests(surface: Surface, route: AnyRoute, known: KnownValues): fc.Arbitrary<ValidRequest> {
  const parts = fc.record({
    params: paramsOf(route, known),
    query: queryOf(route, known),
    headers: headersOf(route),
    body: bodyOf(route, known),
  });
  return parts
    .map(
      ({ params, query, headers, body }): ValidRequest => ({ route, params, query, headers, ...written(route, body) }),
    )
    .filter((request) => isServedBy(surface, request) && (!route.needsQuery || request.query.length > 0));
}

/** Bytes; servers and proxies refuse longer addresses before they look at them. */
const LONGEST_ADDRESS = 8_000;

/** Returns whether the address reaches the route: no earlier declaration serves it, and clients send it as it is. */
export function isServedBy(surface: Surface, request: PlannedRequest): boolean {
  const address = addressOf(request);
  const path = address.split('?')[0] ?? '';
  const isSentAsIs = new URL(address, 'http://host').pathname === path && address.length <= LONGEST_ADDRESS;
  return isSentAsIs && matchRoute(surface.routes, request.route.method, path) === request.route;
}

function paramsOf({ params }: AnyRoute, known: KnownValues): fc.Arbitrary<Record<string, string>> {
  const fields = Object.entries((params?.shape ?? {}) as Record<string, z.ZodType>);
  return fc.record(
    Object.fromEntries(fields.map(([name, one]) => [name, acceptedTexts(one, { place: 'path', name, known })])),
    { noNullPrototype: true },
  ) as fc.Arbitrary<Record<string, string>>;
}

function queryOf(route: AnyRoute, known: KnownValues): fc.Arbitrary<[string, string][]> {
  const fields = Object.entries((route.query?.shape ?? {}) as Record<string, z.ZodType>);
  const requiredKeys = fields.filter(([, one]) => !accepts(one)(undefined)).map(([name]) => name);
  const texts = Object.fromEntries(
    fields.map(([name, one]) => [name, acceptedTexts(one, { place: 'query', name, known })]),
  );
  const query = fc.record(texts, { requiredKeys }) as fc.Arbitrary<Record<string, string>>;
  // Undeclared parameters are ignored.
  const extra = fc.option(fc.constantFrom<[string, string]>(['utm_source', 'x'], ['x', '1']), { freq: 9 });
  return fc.tuple(query, extra).map(([given, one]) => [...Object.entries(given), ...(one ? [one] : [])]);
}

/** Declared request headers, where any text of printable ASCII is accepted. */
function headersOf({ headers }: AnyRoute): fc.Arbitrary<Record<string, string>> {
  const fields = Object.entries((headers?.shape ?? {}) as Record<string, z.ZodType>);
  const texts = fields.flatMap(([name, one]) => {
    const { example } = (one.meta() ?? {}) as { example?: unknown };
    return example === undefined ? [] : [[name, fc.constant(String(example))] as const];
  });
  return fc.record(Object.fromEntries(texts), { requiredKeys: [], noNullPrototype: true }) as fc.Arbitrary<
    Record<string, string>
  >;
}

function bodyOf(route: AnyRoute, known: KnownValues): fc.Arbitrary<unknown> {
  const { body } = route;
  if (!body) return fc.constant(undefined);
  if (isRawBody(body)) return rawBodyOf(body.type, body.schema, known);
  const value = requestLimits(route, valueArbitrary(body, known)).filter(isTakenBy(route));
  return route.bodyOptional ? fc.option(value, { nil: undefined, freq: 5 }) : value;
}

/** Returns whether the value is still accepted once it is written as JSON, with texts that the route takes. */
function isTakenBy(route: AnyRoute): (value: unknown) => boolean {
  const isAccepted = accepts(route.body as z.ZodType);
  return (value) => {
    const text = JSON.stringify(value);
    if (Buffer.byteLength(text) > route.bodyLimit) return false;
    if (route.unstorableText !== 'replace' && !isStorable(unescapedTexts(value))) return false;
    return isAccepted(JSON.parse(text));
  };
}

/** All texts and keys of a JSON value. */
export function unescapedTexts(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null) return '';
  return Object.entries(value)
    .map(([key, inner]) => `${key} ${unescapedTexts(inner)}`)
    .join(' ');
}

const form = fc
  .array(fc.tuple(fc.string({ maxLength: 12 }), fc.string({ unit: 'binary', maxLength: 40 })), { maxLength: 6 })
  .map((fields) => new URLSearchParams(fields).toString());

function rawBodyOf(type: string, schema: z.ZodType | undefined, known: KnownValues): fc.Arbitrary<string> {
  if (type === 'application/x-www-form-urlencoded') return form;
  const json = schema ? valueArbitrary(schema, known) : fc.dictionary(fc.string({ maxLength: 12 }), fc.jsonValue());
  return json.map((value) => JSON.stringify(value));
}

function written(route: AnyRoute, body: unknown): Pick<ValidRequest, 'body' | 'json'> {
  if (body === undefined) return {};
  return isRawBody(route.body) ? { body: body as string } : { body: JSON.stringify(body), json: body };
}

/** Requests that cost the run time and show nothing, made smaller. They stay valid. */
function requestLimits(route: AnyRoute, values: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  if (route.id !== 'claimTask') return values;
  return values.map((value) => {
    const { waitMs, ...rest } = value as { waitMs?: number };
    return waitMs === undefined ? rest : { ...rest, waitMs: Math.min(waitMs, LONGEST_WAIT) };
  });
}
