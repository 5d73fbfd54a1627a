import fc from 'fast-check';
import type { z } from 'zod';
import { acceptedOf, type Candidate, type KnownValues, knownOr, listed } from './leaf.ts';
import { EDGE_TEXTS } from './texts.ts';

/** Texts up to this length are generated in full; a longer bound is not tried at its edge. */
const LONGEST_EDGE = 70_000;
const DEEPEST_JSON = 3;
const USUAL_ITEMS = 6;

interface Field {
  /** Name of the field that holds the value; '' at the top. */
  name: string;
  known: KnownValues;
}

export const accepts =
  (schema: z.ZodType) =>
  (value: unknown): boolean =>
    schema.safeParse(value).success;

/**
 * A generator of JSON values that the schema accepts as input: every optional part present and absent, every
 * alternative, bounds at their edges. Checks that are code are met by drawing again.
 * @param known values that the target returned, by field name.
 * @throws Error for a schema that it finds no accepted value for.
 */
export function valueArbitrary(schema: z.ZodType, known: KnownValues = () => [], name = ''): fc.Arbitrary<unknown> {
  const field = { name, known };
  const found = acceptedOf([{ arbitrary: inputOf(schema, field), weight: 4 }, ...examplesOf(schema)], accepts(schema));
  if (!found) throw new Error(`no accepted value found for ${name || 'a schema'}`);
  return found;
}

const examplesOf = (schema: z.ZodType): Candidate[] => {
  const { example, examples = [] } = (schema.meta() ?? {}) as { example?: unknown; examples?: unknown[] };
  return listed(example === undefined ? examples : [example, ...examples], accepts(schema), 1);
};

/** What the schema's structure describes; its refinements are met by the caller. */
function inputOf(schema: z.ZodType, field: Field): fc.Arbitrary<unknown> {
  const inner = (one: z.core.$ZodType) => valueArbitrary(one as z.ZodType, field.known, field.name);
  const { def } = (schema as unknown as z.core.$ZodTypes)._zod;
  switch (def.type) {
    case 'string':
      return textOf(schema as z.ZodString, field);
    case 'number':
      return numberOf(schema as z.ZodNumber, field);
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    case 'literal':
      return fc.constantFrom(...def.values);
    case 'enum':
      return fc.constantFrom(...Object.values(def.entries));
    case 'unknown':
    case 'any':
      return json;
    case 'array':
      return listOf(schema as z.ZodArray, inner(def.element));
    case 'record':
      return fc.dictionary(inner(def.keyType) as fc.Arbitrary<string>, inner(def.valueType), { maxKeys: 5 });
    case 'object':
      return objectOf(schema as z.ZodObject, field);
    case 'union':
      return fc.oneof(...def.options.map(inner));
    case 'optional':
    case 'default':
    case 'nonoptional':
    case 'readonly':
      return inner(def.innerType);
    case 'nullable':
      return fc.option(inner(def.innerType), { nil: null, freq: 4 });
    case 'pipe':
      // A preprocessing step takes anything: what it makes of it is said by the schema behind it.
      return inner((def.in as z.ZodType)._zod.def.type === 'transform' ? def.out : def.in);
    default:
      throw new Error(`no generator for ${def.type} (${field.name})`);
  }
}

const json = fc.jsonValue({ maxDepth: DEEPEST_JSON, stringUnit: 'binary' });

function objectOf({ shape }: z.ZodObject, { known }: Field): fc.Arbitrary<unknown> {
  const entries = Object.entries(shape) as [string, z.ZodType][];
  const requiredKeys = entries.filter(([, one]) => !accepts(one)(undefined)).map(([name]) => name);
  const fields = Object.fromEntries(entries.map(([name, one]) => [name, valueArbitrary(one, known, name)]));
  return fc.record(fields, { requiredKeys, noNullPrototype: true });
}

function listOf(schema: z.ZodArray, element: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  const minimum = boundOf(schema, 'min_length') ?? 0;
  const maximum = boundOf(schema, 'max_length') ?? USUAL_ITEMS;
  return fc.array(element, { minLength: minimum, maxLength: Math.min(maximum, Math.max(minimum, USUAL_ITEMS)) });
}

function numberOf(schema: z.ZodNumber, { name, known }: Field): fc.Arbitrary<unknown> {
  const isInteger = schema.format === 'safeint' || schema.format === 'int32';
  const min = schema.minValue ?? Number.MIN_SAFE_INTEGER;
  const max = schema.maxValue ?? Number.MAX_SAFE_INTEGER;
  const bounds = { min: Math.max(min, -1e15), max: Math.min(max, Number.MAX_SAFE_INTEGER) };
  const whole = fc.integer({ min: Math.ceil(bounds.min), max: Math.floor(bounds.max) });
  const candidates: Candidate[] = [
    { arbitrary: whole, weight: 3 },
    ...listed([min, max, 0, 1, 7, 2 ** 31 - 1], accepts(schema), 2),
    ...(isInteger ? [] : [{ arbitrary: fc.double({ ...bounds, noNaN: true }).map((one) => one + 0), weight: 3 }]),
  ];
  const found = acceptedOf(candidates, accepts(schema));
  if (!found) throw new Error(`no accepted number found for ${name}`);
  return knownOr(found, () => known(name), accepts(schema));
}

const FORMATS: Readonly<Record<string, fc.Arbitrary<string>>> = {
  uuid: fc.uuid(),
  guid: fc.uuid(),
  url: fc.webUrl({ withQueryParameters: true }),
  datetime: fc
    .date({ min: new Date('1970-01-02'), max: new Date('2100-01-01'), noInvalidDate: true })
    .map((date) => date.toISOString()),
};

function textOf(schema: z.ZodString, { name, known }: Field): fc.Arbitrary<unknown> {
  const found = acceptedOf(textCandidates(schema), accepts(schema));
  if (!found) throw new Error(`no accepted text found for ${name}`);
  return knownOr(found, () => known(name), accepts(schema));
}

/** Generators of texts for a schema; some of their texts it may refuse. */
export function textCandidates(schema: z.ZodString): Candidate[] {
  const { format, minLength, maxLength } = schema;
  const patterns = checksOf(schema).flatMap(({ pattern }) => (pattern ? [pattern] : []));
  const lengths = { minLength: minLength ?? 0, ...(maxLength !== null && { maxLength }) };
  const own = format === null ? undefined : FORMATS[format];
  return [
    ...(own ? [{ arbitrary: own, weight: 4 }] : []),
    ...(own ? [] : patterns.map((pattern) => ({ arbitrary: matching(pattern), weight: 4 }))),
    { arbitrary: fc.string({ ...lengths, unit: 'binary' }), weight: 2 },
    { arbitrary: fc.string({ ...lengths, unit: 'grapheme' }), weight: 2 },
    ...listed([...EDGE_TEXTS, ...longest(schema)], accepts(schema), 3),
  ];
}

/** Texts of a pattern. The generator knows no lookahead: those that one refuses are left to the caller. */
const matching = (pattern: RegExp): fc.Arbitrary<string> =>
  fc.stringMatching(new RegExp(pattern.source.replace(/\(\?[=!][^()]*\)/g, ''), pattern.flags));

interface Check {
  check: string;
  pattern?: RegExp;
  minimum?: number;
  maximum?: number;
}

const checksOf = (schema: z.ZodType): Check[] =>
  (schema._zod.def.checks ?? []).map((one) => one._zod.def as unknown as Check);

const boundOf = (schema: z.ZodType, kind: 'min_length' | 'max_length'): number | undefined => {
  const found = checksOf(schema).find(({ check }) => check === kind);
  return found?.minimum ?? found?.maximum;
};

/** The shortest and the longest text by the declared lengths. */
const longest = ({ minLength, maxLength }: z.ZodString): string[] =>
  [minLength ?? 0, maxLength ?? 0].filter((length) => length <= LONGEST_EDGE).map((length) => 'n'.repeat(length));
