import fc from 'fast-check';
import type { z } from 'zod';
import { EDGE_VALUES } from './value-arbitrary.ts';

type Json = unknown;
type Path = readonly (string | number)[];
/** Changes one place of a JSON value; where the place is depends on the value. */
export type Wound = (value: Json) => Json;

/** One field broken at a time: another type, out of bounds, left out, added, repeated. Some leave the value valid. */
export function wounds(schema: z.ZodType): fc.Arbitrary<Wound> {
  const names = topNames(schema);
  const place = fc.nat({ max: 9_999 });
  const replacing = fc.tuple(place, fc.constantFrom(...EDGE_VALUES)).map(
    ([index, other]): Wound =>
      (value) =>
        change(value, pathAt(value, names, index), () => other),
  );
  const deleting = place.map(
    (index): Wound =>
      (value) =>
        without(value, pathAt(value, names, index)),
  );
  const stretching = fc.tuple(place, fc.constantFrom(20_001, 101, 5_001, 70_000, 501, 1_001)).map(
    ([index, size]): Wound =>
      (value) =>
        change(value, pathAt(value, names, index), stretched(size)),
  );
  const adding = place.map(
    (index): Wound =>
      (value) =>
        change(value, pathAt(value, names, index), withExtra),
  );
  return fc.oneof(
    { arbitrary: replacing, weight: 6 },
    { arbitrary: deleting, weight: 2 },
    { arbitrary: stretching, weight: 2 },
    { arbitrary: adding, weight: 1 },
  );
}

/** The fields that the schema declares at the top, of every alternative. */
function topNames(schema: z.ZodType): string[] {
  const { def } = (schema as unknown as z.core.$ZodTypes)._zod;
  if (def.type === 'object') return Object.keys(def.shape);
  if (def.type === 'union') return [...new Set(def.options.flatMap((one) => topNames(one as z.ZodType)))];
  return [];
}

/** One of all places of the value, the declared fields that it leaves out included. */
function pathAt(value: Json, names: readonly string[], index: number): Path {
  const paths = [...pathsOf(value), ...names.map((name): Path => [name])];
  return paths[index % paths.length] ?? [];
}

function* pathsOf(value: Json, path: Path = []): Generator<Path> {
  yield path;
  if (typeof value !== 'object' || value === null) return;
  for (const [key, inner] of Object.entries(value))
    yield* pathsOf(inner, [...path, Array.isArray(value) ? Number(key) : key]);
}

function change(value: Json, [key, ...rest]: Path, to: (old: Json) => Json): Json {
  if (key === undefined) return to(value);
  if (Array.isArray(value)) return value.with(Number(key), change(value[Number(key)], rest, to));
  const object = (typeof value === 'object' && value !== null ? value : {}) as Record<string, Json>;
  return { ...object, [key]: change(object[key], rest, to) };
}

function without(value: Json, path: Path): Json {
  const last = path.at(-1);
  return change(value, path.slice(0, -1), (parent) => {
    if (Array.isArray(parent)) return parent.filter((_one, index) => index !== last);
    if (typeof parent !== 'object' || parent === null) return parent;
    return Object.fromEntries(Object.entries(parent).filter(([key]) => key !== last));
  });
}

const stretched = (size: number) => (old: Json) => {
  if (typeof old === 'string') return old.padEnd(size, 'w');
  if (typeof old === 'number') return (old || 1) * 2 ** 53;
  if (Array.isArray(old))
    return Array.from({ length: Math.min(size, 2_001) }, (_none, index) => old[index % old.length] ?? 0);
  return [old];
};

const withExtra = (old: Json) =>
  typeof old === 'object' && old !== null && !Array.isArray(old) ? { ...old, undeclaredField: 1 } : [old, old];
