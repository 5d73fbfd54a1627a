import { isDeepStrictEqual } from 'node:util';
import {
  type Alternative,
  DocumentError,
  isObject,
  isText,
  type Json,
  listAt,
  type OpenApiDocument,
} from './openapi-document.ts';

const MAX_ALTERNATIVES = 1_000;
const MAX_REFERENCES = 50;
const STRUCTURE = [
  '$ref',
  'allOf',
  'oneOf',
  'anyOf',
  'type',
  'const',
  'enum',
  'discriminator',
  'default',
  'deprecated',
];

/** Splits a schema into alternatives whose union it is. */
export function alternativesOf(document: OpenApiDocument, schema: unknown, depth = 0): Alternative[] {
  if (depth > MAX_REFERENCES) throw new DocumentError('has a schema that contains itself without a field between');
  if (schema === false) return [];
  if (!isObject(schema)) return [{ keywords: {} }];
  const split = (inner: unknown) => alternativesOf(document, inner, depth + 1);
  const parts = [
    ...(typeof schema.$ref === 'string' ? [split(document.target(schema.$ref))] : []),
    ...listAt(schema, 'allOf').map(split),
    ...['oneOf', 'anyOf'].flatMap((key) => (Array.isArray(schema[key]) ? [listAt(schema, key).flatMap(split)] : [])),
  ];
  return joinEnums(parts.reduce(intersect, ownAlternatives(schema)));
}

function ownAlternatives(schema: Json): Alternative[] {
  const keywords = Object.fromEntries(
    Object.entries(schema).filter(([key]) => !STRUCTURE.includes(key) && !isText(key)),
  );
  const values = Object.hasOwn(schema, 'const') ? [schema.const] : schema.enum;
  const types = typeof schema.type === 'string' ? [schema.type] : (schema.type as string[] | undefined);
  if (!Array.isArray(values)) {
    if (!Array.isArray(types)) return [{ keywords }];
    return types.map((type) => ({ type, keywords: keywordsFor(type, keywords) }));
  }
  const found = types ?? [...new Set(values.map(typeOfValue))];
  return found.flatMap((type) => {
    const matching = values.filter((value) => isOfType(type, value));
    return matching.length === 0 ? [] : [{ type, keywords: { ...keywordsFor(type, keywords), enum: matching } }];
  });
}

function typeOfValue(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return Number.isInteger(value) ? 'integer' : typeof value;
}

const isOfType = (type: string, value: unknown): boolean =>
  typeOfValue(value) === type || (type === 'number' && typeof value === 'number');

const KEYWORDS: Readonly<Record<string, RegExp>> = {
  string: /Length$|^pattern$|^format$|^content/,
  number: /^m(in|ax)imum$|^exclusive|^multipleOf$|^format$/,
  array: /Items|^items$|[cC]ontains$/,
  object: /[pP]ropert|^required$|^dependent/,
};

/** Leaves out keywords that constrain values of other types only. */
function keywordsFor(type: string, keywords: Json): Json {
  const own = type === 'integer' ? 'number' : type;
  const applies = (key: string) =>
    KEYWORDS[own]?.test(key) || !Object.values(KEYWORDS).some((pattern) => pattern.test(key));
  const entries = Object.entries(keywords).filter(([key]) => applies(key));
  // Boolean without values means both.
  return Object.fromEntries(type === 'boolean' ? [['enum', [false, true]], ...entries] : entries);
}

function intersect(left: Alternative[], right: Alternative[]): Alternative[] {
  if (left.length * right.length > MAX_ALTERNATIVES)
    throw new DocumentError(`has a schema with more than ${MAX_ALTERNATIVES} alternatives`);
  return left.flatMap((a) => right.flatMap((b) => both(a, b)));
}

function both(a: Alternative, b: Alternative): Alternative[] {
  const type = commonType(a.type, b.type);
  if (type === null) return [];
  const keywords: Record<string, unknown> = { ...a.keywords };
  for (const [key, value] of Object.entries(b.keywords))
    keywords[key] = Object.hasOwn(keywords, key) ? strictest(key, keywords[key], value) : value;
  if (Array.isArray(keywords.enum) && keywords.enum.length === 0) return [];
  return [type === undefined ? { keywords } : { type, keywords: keywordsFor(type, keywords) }];
}

function commonType(a: string | undefined, b: string | undefined): string | undefined | null {
  if (a === undefined || a === b) return b;
  if (b === undefined) return a;
  const types = [a, b];
  return types.includes('integer') && types.includes('number') ? 'integer' : null;
}

/** The value of a keyword that is as strict as both. */
function strictest(key: string, a: unknown, b: unknown): unknown {
  if (isDeepStrictEqual(a, b)) return a;
  if (typeof a === 'number' && typeof b === 'number' && /^(min|exclusiveMin)/.test(key)) return Math.max(a, b);
  if (typeof a === 'number' && typeof b === 'number' && /^(max|exclusiveMax)/.test(key)) return Math.min(a, b);
  if (key === 'required') return [...new Set([...(a as []), ...(b as [])])];
  if (key === 'enum') return (a as unknown[]).filter((x) => (b as unknown[]).some((y) => isDeepStrictEqual(x, y)));
  if (key === 'properties' && isObject(a) && isObject(b)) {
    const shared = Object.keys(a).filter((name) => Object.hasOwn(b, name));
    return { ...a, ...b, ...Object.fromEntries(shared.map((name) => [name, allOf(a[name], b[name])])) };
  }
  if (['items', 'additionalProperties', 'propertyNames'].includes(key)) return allOf(a, b);
  // Two patterns, formats or keywords of other kinds: both are kept, to be compared as a whole.
  return [a, b];
}

const joinedSchemas = new WeakMap<object, Map<unknown, Json>>();

/** The schema of both, the same object for the same two: the comparison of a recursive schema ends by identity. */
function allOf(a: unknown, b: unknown): Json {
  const schema = { allOf: [a, b] };
  if (!isObject(a)) return schema;
  const others = joinedSchemas.get(a) ?? new Map<unknown, Json>();
  joinedSchemas.set(a, others);
  const known = others.get(b) ?? schema;
  others.set(b, known);
  return known;
}

/** Joins alternatives of one type that list values only. */
function joinEnums(alternatives: Alternative[]): Alternative[] {
  if (alternatives.length > MAX_ALTERNATIVES)
    throw new DocumentError(`has a schema with more than ${MAX_ALTERNATIVES} alternatives`);
  const joined = new Map<string, Set<unknown>>();
  const others: Alternative[] = [];
  for (const alternative of alternatives) {
    const { type = '', keywords } = alternative;
    if (Object.keys(keywords).join() !== 'enum' || !['string', 'integer', 'number', 'boolean'].includes(type))
      others.push(alternative);
    else joined.set(type, new Set([...(joined.get(type) ?? []), ...(keywords.enum as unknown[])]));
  }
  return [...others, ...[...joined].map(([type, values]) => ({ type, keywords: { enum: [...values].sort() } }))];
}
