import { z } from 'zod';
import { openApiDocument } from './openapi.ts';
import type { AnyRoute } from './route.ts';
import type { Surface } from './surface.ts';

interface Parameter {
  name: string;
  in: string;
  required?: boolean;
  description?: string;
  example?: unknown;
  schema: { type?: string; description?: string };
}

interface Probed {
  status: number;
  /** Error code of a failed request. */
  code?: string | undefined;
}

/** Sends one GET request. */
type ProbeParameters = (pathAndQuery: string) => Promise<Probed>;

/** Texts at the edges of what parameters and fields take: numbers, slugs, times, lists, blanks, lengths, other scripts. */
export const EDGE_TEXTS: readonly string[] = [
  ...[
    '',
    ' ',
    '0',
    '1',
    '7',
    '-1',
    '+7',
    '07',
    ' 7',
    '7 ',
    '1e3',
    '1e400',
    '0x10',
    '1.0',
    '1.5',
    '.5',
    'NaN',
    'Infinity',
  ],
  ...[
    '2147483647',
    '2147483648',
    '-2147483649',
    '9007199254740993',
    '9'.repeat(16),
    '9'.repeat(400),
    '4000',
    '1000001',
  ],
  ...['acme/shop', 'ACME/Shop', 'acme', 'acme/', '/shop', 'a/b/c', '../x', './x', 'x/..', 'acme/sh op', 'acme/shöp'],
  ...[`${'o'.repeat(100)}/${'n'.repeat(100)}`, `${'o'.repeat(101)}/n`, 'acme/shop\n', 'a.b-c_d/..e'],
  ...['1h', '24h', '7d', '5s', '30m', '1w', '1234567s', 'today', 'yesterday', '2026-03-01', '2026-02-30', '2028-02-29'],
  ...[
    '2026-03-01T00:00:00Z',
    '2026-03-01T00:00:00+02:00',
    '2026-03-01T24:00:00Z',
    '2026-03-01T00:00:00',
    '2026-03-01t00:00:00.123456z',
    '0001-01-01',
    '2026-03-01 00:00:00Z',
    '03/01/2026',
  ],
  ...['alert', 'alert,state-transition', ' alert , heartbeat', 'alert,', ',', 'alarm', 'alert;heartbeat', 'Alert'],
  ...[
    'open',
    'OPEN',
    'open ',
    'all',
    'tools',
    'x',
    'ä',
    '😀',
    'a'.repeat(50),
    'a'.repeat(100),
    'a'.repeat(101),
    'a'.repeat(201),
  ],
  ...['0198c5a4-7c1e-7000-8000-000000000001', '0198c5a4', 'true', 'null', '[]', '{}'],
];

/** Read-only routes with parameters: any value can be sent to them safely. */
export const routesWithParameters = (surface: Surface): readonly AnyRoute[] =>
  surface.routes.filter((route) => route.method === 'get' && !route.undocumented && (route.params || route.query));

/** Share of the texts for a parameter that an earlier route has as well: some refused ones, and one in so many valid ones. */
const REPEATED_REFUSALS = 2;
const REPEATED_SHARE = 6;
/** Numbers of valid texts of which all are sent. */
const FEW_TEXTS = 16;

/**
 * Compares the documented schema of a route's path and query parameters with the values that the server accepts. The
 * server must accept every valid value and refuse every invalid one, unless the description states that it is clamped
 * or means the default. The same parameter of several routes is checked by the same stage: the first route gets all
 * values, the others get some that are refused and a share of the valid ones, another one each, for their handlers.
 * @returns one line per mismatch.
 */
export async function parameterProblems(surface: Surface, route: AnyRoute, probe: ProbeParameters): Promise<string[]> {
  const parameters = parametersOf(surface, route);
  const problems = parameters.flatMap((parameter) =>
    textsFor(surface, route, parameter).map(async (text) => {
      const answer = await probe(addressOf(route, parameters, { name: parameter.name, text }));
      const problem = problemOf(parameter, text, answer);
      return problem ? [`${parameter.in} ${parameter.name}=${JSON.stringify(text.slice(0, 60))}: ${problem}`] : [];
    }),
  );
  return (await Promise.all(problems)).flat();
}

function textsFor(surface: Surface, route: AnyRoute, parameter: Parameter): readonly string[] {
  const texts = EDGE_TEXTS.filter((text) => canBeSent(parameter, text));
  if (firstRoutes(surface).get(keyOf(parameter)) === route.id) return texts;
  const refused = texts.filter((text) => !isValidText(parameter.schema, text)).slice(0, REPEATED_REFUSALS);
  const valid = texts.filter((text) => isValidText(parameter.schema, text));
  if (valid.length <= FEW_TEXTS) return [...valid, ...refused];
  const turn = surface.routes.indexOf(route);
  return [...valid.filter((_text, index) => (index + turn) % REPEATED_SHARE === 0), ...refused];
}

/** Equal for parameters that accept the same texts. */
function keyOf({
  in: place,
  name,
  schema: { description: _description, ...schema },
  description = '',
}: Parameter): string {
  return JSON.stringify([
    place,
    name,
    schema,
    description.includes('clamped'),
    description.includes('means the default'),
  ]);
}

const firstRoutesOf = new WeakMap<Surface, ReadonlyMap<string, string>>();

/** Returns the id of the first route of each parameter. */
function firstRoutes(surface: Surface): ReadonlyMap<string, string> {
  const known = firstRoutesOf.get(surface);
  if (known) return known;
  const routes = routesWithParameters(surface).toReversed();
  const first = new Map(
    routes.flatMap((route) =>
      parametersOf(surface, route).map((parameter): [string, string] => [keyOf(parameter), route.id]),
    ),
  );
  firstRoutesOf.set(surface, first);
  return first;
}

const documents = new WeakMap<Surface, ReturnType<typeof openApiDocument>>();

/** Returns the document of a surface, which is made once. */
function documentOf(surface: Surface): ReturnType<typeof openApiDocument> {
  const document = documents.get(surface) ?? openApiDocument(surface);
  documents.set(surface, document);
  return document;
}

function parametersOf(surface: Surface, { path, method }: AnyRoute): Parameter[] {
  const item = documentOf(surface).paths?.[path.replace('*}', '}')];
  const { parameters = [] } = (item as Record<string, { parameters?: Parameter[] }>)[method] ?? {};
  return parameters.filter((one) => one.in === 'path' || one.in === 'query');
}

/** Path segments are never empty, and HTTP clients resolve dot segments before sending. */
const canBeSent = (parameter: Parameter, text: string): boolean =>
  parameter.in === 'query' || !['', '.', '..'].includes(text);

function problemOf(parameter: Parameter, text: string, { status, code }: Probed): string | undefined {
  const { in: place, schema, description = '' } = parameter;
  if (status >= 500 && status !== 503) return `${status} ${code}`;
  if (isValidText(schema, text)) return status === 400 ? `valid by the document, refused with ${code}` : undefined;
  const isRefused = status === 400 || (place === 'path' && status === 404);
  const isClamped = /^-?\d+$/.test(text) && description.includes('clamped');
  const isDefault =
    text === '' ? / means the default/.test(description) : description.includes('Anything else means the default');
  return isRefused || isClamped || isDefault ? undefined : `not valid by the document, accepted with ${status}`;
}

function addressOf(route: AnyRoute, parameters: readonly Parameter[], over: { name: string; text: string }): string {
  const textOf = ({ name, example }: Parameter) => (name === over.name ? over.text : String(example));
  const path = route.path.replace(/\{(\w+)\*?\}/g, (_all, name: string) => {
    const parameter = parameters.find((one) => one.in === 'path' && one.name === name);
    return encodeURIComponent(parameter ? textOf(parameter) : name);
  });
  const sent = parameters.filter((one) => one.in === 'query' && (one.required || one.name === over.name));
  return `${path}?${new URLSearchParams(sent.map((one): [string, string] => [one.name, textOf(one)]))}`;
}

const schemas = new Map<string, z.ZodType>();

/** Returns whether a value matches the parameter's schema. Numbers must have JSON syntax. */
function isValidText(schema: Parameter['schema'], text: string): boolean {
  const key = JSON.stringify(schema);
  const known = schemas.get(key) ?? z.fromJSONSchema(schema as never);
  schemas.set(key, known);
  if (schema.type === 'integer' && !/^(0|-?[1-9]\d*)$/.test(text)) return false;
  if (schema.type === 'number' && !/^-?\d+(\.\d+)?$/.test(text)) return false;
  const value = schema.type === 'integer' || schema.type === 'number' ? Number(text) : text;
  return known.safeParse(value).success;
}
