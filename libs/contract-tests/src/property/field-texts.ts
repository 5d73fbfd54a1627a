import fc from 'fast-check';
import type { z } from 'zod';
import {
  acceptedOf,
  accepts,
  type Candidate,
  FIELD_TEXTS,
  type KnownValues,
  knownOr,
  listed,
  textCandidates,
} from './value-arbitrary.ts';

type Place = 'path' | 'query';

/**
 * Returns whether clients send the text as it is: a segment of a path is never empty, and dot segments are resolved.
 */
const canBeSent = (place: Place, text: unknown): text is string =>
  typeof text === 'string' && text.isWellFormed() && (place === 'query' || !['', '.', '..'].includes(text));

/**
 * Texts that a path or query parameter accepts.
 * @throws Error when none is found.
 */
export function acceptedTexts(
  schema: z.ZodType,
  { place, name, known }: { place: Place; name: string; known: KnownValues },
): fc.Arbitrary<string> {
  const isAccepted = (text: unknown) => canBeSent(place, text) && accepts(schema)(text);
  const found = acceptedOf(candidatesOf(schema, isAccepted), isAccepted);
  if (!found) throw new Error(`no accepted text found for ${place} ${name}`);
  const asTexts = () => known(name).map(String);
  return knownOr(found, asTexts, isAccepted) as fc.Arbitrary<string>;
}

/** Texts that a path or query parameter refuses; null when it accepts every text that can be sent. */
export function refusedTexts(schema: z.ZodType, place: Place): fc.Arbitrary<string> | null {
  const isRefused = (text: unknown) => canBeSent(place, text) && !accepts(schema)(text);
  const candidates = [
    ...listed(FIELD_TEXTS, isRefused, 4),
    { arbitrary: fc.string({ unit: 'binary', minLength: 1 }), weight: 1 },
  ];
  return acceptedOf(candidates, isRefused) as fc.Arbitrary<string> | null;
}

function candidatesOf(schema: z.ZodType, isAccepted: (text: unknown) => boolean): Candidate[] {
  const { example } = (schema.meta() ?? {}) as { example?: unknown };
  return [
    ...listed([String(example), ...FIELD_TEXTS], isAccepted, 2),
    ...listed(EDGE_NUMBERS, isAccepted, 1),
    ...leafCandidates(schema),
  ];
}

const EDGE_NUMBERS = [2, 3, 10, 50, 499, 500, 501, 1_000, 1_001, 2_000, 2_001, 1_000_000].map(String);

/** Lists candidates by the schema under wrappers and conversions. */
function leafCandidates(schema: z.ZodType): Candidate[] {
  const { def } = (schema as unknown as z.core.$ZodTypes)._zod;
  switch (def.type) {
    case 'optional':
    case 'default':
    case 'nullable':
      return leafCandidates(def.innerType as z.ZodType);
    case 'pipe':
      return leafCandidates(((def.in as z.ZodType)._zod.def.type === 'transform' ? def.out : def.in) as z.ZodType);
    case 'enum':
      return [{ arbitrary: fc.constantFrom(...Object.values(def.entries).map(String)), weight: 4 }];
    case 'number':
      return [{ arbitrary: fc.integer().map(String), weight: 2 }];
    case 'string':
      return textCandidates(schema as z.ZodString);
    default:
      return [];
  }
}
