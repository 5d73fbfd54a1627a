import { EDGE_TEXTS } from '@pipeline/contract';
import fc from 'fast-check';
import type { z } from 'zod';

/** Edge texts of parameters, with control characters, markup, names of JavaScript and more lengths. */
export const FIELD_TEXTS: readonly string[] = [
  ...EDGE_TEXTS,
  ...['-2147483649', '9999-12-31', '%2F', '%00', 'a%', '\\', 'İ', 'ﬀ'],
  ...['a\0b', '\0', '\u0001', '\u2028', '\ufeff', '\uffff', 'e\u0301', '\u202eabc', "'", '"', '`', ';--', '{{7*7}}'],
  ...['<script>alert(1)</script>', '%_', '*', '(', '[', '$', '^', 'constructor', '__proto__', 'toString'],
  ...['false', 'undefined', 'f'.repeat(64)],
  ...[99, 200, 300, 301, 500, 501, 5_000, 5_001].map((length) => 'a'.repeat(length)),
];

/** Values of other JSON types, for fields that want one in particular. */
export const EDGE_VALUES: readonly unknown[] = [
  ...[null, true, false, 0, -1, 1, 1.5, -0.5, 2 ** 31, 2 ** 53, 1e308, -1e308, 1e-7],
  ...['', 'x', ' ', '1', 'true', 'null', '2026-13-01', 'ab\ncd'],
  ...[[], [null], [[]], ['x'], {}, { x: 1 }, [{}]],
];

/** Gives values that requests may use by field name: ids, repos and numbers that the target returned. */
export type KnownValues = (name: string) => readonly (string | number)[];

/** A generator of candidates for one value, with its weight among the others. */
export interface Candidate {
  arbitrary: fc.Arbitrary<unknown>;
  weight: number;
}

/** Candidates that are drawn to find out how many of them are accepted. */
const PROBES = 40;
/** A generator with a smaller share of accepted values is left out, where others do: drawing from it takes long. */
const LEAST_SHARE = 0.2;
const PROBE_SEED = 1;

/** The share of accepted values among the first ones of a generator, 0 to 1. */
const acceptedShare = (arbitrary: fc.Arbitrary<unknown>, accepts: (value: unknown) => boolean): number =>
  fc.sample(arbitrary, { seed: PROBE_SEED, numRuns: PROBES }).filter(accepts).length / PROBES;

/**
 * One generator out of several: those that give accepted values often enough, each restricted to accepted values.
 * @returns null when none does.
 */
export function acceptedOf(
  candidates: readonly Candidate[],
  accepts: (value: unknown) => boolean,
): fc.Arbitrary<unknown> | null {
  const shares = candidates.map((candidate) => ({ candidate, share: acceptedShare(candidate.arbitrary, accepts) }));
  const often = shares.filter(({ share }) => share >= LEAST_SHARE);
  const usable = often.length > 0 ? often : shares.filter(({ share }) => share > 0);
  if (usable.length === 0) return null;
  return fc.oneof(
    ...usable.map(({ candidate: { arbitrary, weight } }) => ({ arbitrary: arbitrary.filter(accepts), weight })),
  );
}

/** A generator of the listed values that are accepted; no candidate when there is none. */
export function listed(values: readonly unknown[], accepts: (value: unknown) => boolean, weight: number): Candidate[] {
  const accepted = values.filter(accepts);
  return accepted.length === 0 ? [] : [{ arbitrary: fc.constantFrom(...accepted), weight }];
}

/**
 * Draws from what the target returned, which is read at each draw; from `fallback` while nothing fits.
 */
export function knownOr(
  fallback: fc.Arbitrary<unknown>,
  known: () => readonly (string | number)[],
  accepts: (value: unknown) => boolean,
): fc.Arbitrary<unknown> {
  return fc.tuple(fc.nat({ max: 9_999 }), fc.nat({ max: 9 }), fallback).map(([index, dice, other]) => {
    if (dice < 3) return other;
    const fitting = known().filter(accepts);
    return fitting.length === 0 ? other : fitting[index % fitting.length];
  });
}

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

/** Makes values that the schema's structure describes; the caller meets its refinements. */
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
    case 'catch':
    case 'nonoptional':
    case 'readonly':
      return inner(def.innerType);
    case 'nullable':
      return fc.option(inner(def.innerType), { nil: null, freq: 4 });
    case 'pipe':
      // A preprocessing step takes anything: what it makes of it is described by the schema behind it.
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
  email: fc.emailAddress(),
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
    ...(own ? [] : patterns.flatMap(matching)),
    { arbitrary: fc.string({ ...lengths, unit: 'binary' }), weight: 2 },
    { arbitrary: fc.string({ ...lengths, unit: 'grapheme' }), weight: 2 },
    ...listed([...FIELD_TEXTS, ...longest(schema)], accepts(schema), 3),
  ];
}

/**
 * Candidates by source and flags. A generator lists the characters of each class at its first use: a second for
 * `[^\0]`.
 */
const patternTexts = new Map<string, Candidate[]>();

/** Texts of a pattern; none of one with a lookahead, which the generator does not know: listed texts stand for it. */
function matching(pattern: RegExp): Candidate[] {
  const made = patternTexts.get(String(pattern)) ?? textsOfPattern(pattern);
  patternTexts.set(String(pattern), made);
  return made;
}

function textsOfPattern(pattern: RegExp): Candidate[] {
  try {
    return [{ arbitrary: fc.stringMatching(pattern), weight: 4 }];
  } catch {
    return [];
  }
}

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
