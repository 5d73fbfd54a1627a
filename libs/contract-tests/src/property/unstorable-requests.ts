import { type AnyRoute, fillPath, isRawBody } from '@pipeline/contract';
import { z } from 'zod';
import { sampleOf, withEachText } from './sample-input.ts';

/** A request with a text that Postgres cannot store, in one place. */
export interface UnstorableRequest {
  route: AnyRoute;
  /** Position of the text, for the message of a failure. */
  where: string;
  path: string;
  method: string;
  body?: string;
  type?: string;
}

const schemaOf = (schema: z.ZodType): object => z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });

const withNul = (text: string) => `${text}\0`;
const withHalfPair = (text: string) => `${text}\ud800`;

/** One request for each text in path, query and body of a route, everything else as its schemas want it. */
export function* unstorableRequests(
  route: AnyRoute,
  forms: Readonly<Record<string, readonly string[]>> = {},
): Generator<UnstorableRequest> {
  const base = { route, method: route.method.toUpperCase() };
  const params = route.params ? texts(sampleOf(schemaOf(route.params))) : {};
  const path = fillPath(route.path, params);
  for (const name of Object.keys(params)) {
    const changed = { ...params, [name]: withNul(params[name] ?? '') };
    yield { ...base, where: `path ${name}`, path: fillPath(route.path, changed), ...validBody(route) };
  }
  for (const name of Object.keys(route.query?.shape ?? { undeclared: true }))
    yield { ...base, where: `query ${name}`, path: `${path}?${name}=a%00b`, ...validBody(route) };
  const query = route.needsQuery ? '?x=1' : '';
  for (const [where, body] of bodies(route, forms[route.id] ?? []))
    yield { ...base, where: `body ${where}`, path: path + query, type: typeOf(route), body };
}

const texts = (sample: unknown): Record<string, string> =>
  Object.fromEntries(Object.entries(sample as object).map(([name, value]) => [name, String(value)]));

const typeOf = ({ body }: AnyRoute): string => (isRawBody(body) ? body.type : 'application/json');

function validBody(route: AnyRoute): { body?: string; type?: string } {
  const { body } = route;
  if (!body || isRawBody(body)) return {};
  return { body: JSON.stringify(sampleOf(schemaOf(body))), type: typeOf(route) };
}

function* bodies({ body }: AnyRoute, fields: readonly string[]): Generator<[string, string]> {
  if (isRawBody(body)) {
    for (const field of fields) {
      const form = new URLSearchParams(fields.map((name): [string, string] => [name, name === field ? 'a\0b' : 'x']));
      yield [field, form.toString()];
    }
  } else if (body) {
    const sample = sampleOf(schemaOf(body));
    for (const change of [withNul, withHalfPair])
      for (const [where, changed] of withEachText(sample, change)) yield [where, JSON.stringify(changed)];
  }
}
