import { isDeepStrictEqual } from 'node:util';
import { type Alternative, isObject, type OpenApiDocument, objectAt } from './openapi-document.ts';
import { alternativesOf } from './schema-alternatives.ts';

interface Pairs {
  readonly pairs: [Alternative, Alternative][];
  readonly removed: Alternative[];
  readonly added: Alternative[];
}

/** Pairs the alternatives of two schemas: equal ones first, then those with the same tag, then by type. */
export function pairAlternatives(
  [before, after]: readonly [Alternative[], Alternative[]],
  documents: readonly [OpenApiDocument, OpenApiDocument],
): Pairs {
  const pairs: [Alternative, Alternative][] = [];
  const added = [...after];
  const tags = new Map([
    ...before.map((one) => [one, tagsOf(one, documents[0])] as const),
    ...after.map((one) => [one, tagsOf(one, documents[1])] as const),
  ]);
  const pairBy = (matches: (a: Alternative, b: Alternative) => boolean, open: Alternative[]) =>
    open.filter((one) => {
      const index = added.findIndex((other) => matches(one, other));
      const [found] = index < 0 ? [] : added.splice(index, 1);
      if (found) pairs.push([one, found]);
      return !found;
    });
  const compatible = (a: Alternative, b: Alternative) => !clash(tags.get(a), tags.get(b));
  const tagged = (a: Alternative, b: Alternative) => compatible(a, b) && share(tags.get(a), tags.get(b));
  const related = (a: Alternative, b: Alternative) => isRelated(a.type, b.type) && compatible(a, b);
  const steps = [
    isDeepStrictEqual,
    tagged,
    (a: Alternative, b: Alternative) => a.type === b.type && related(a, b),
    related,
  ];
  const removed = steps.reduce((open, matches) => pairBy(matches, open), before);
  return { pairs, removed, added };
}

type Tags = ReadonlyMap<string, unknown>;

/** Fields with one value, which distinguish the alternatives of a union. */
function tagsOf({ keywords }: Alternative, document: OpenApiDocument): Tags {
  return new Map(
    Object.entries(objectAt(keywords, 'properties')).flatMap(([name, schema]) => {
      if (!isObject(schema) || !('const' in schema || 'enum' in schema)) return [];
      const [only, ...more] = alternativesOf(document, schema);
      const values = only?.keywords.enum;
      return more.length === 0 && Array.isArray(values) && values.length === 1 ? [[name, values[0]] as const] : [];
    }),
  );
}

const clash = (a: Tags = new Map(), b: Tags = new Map()): boolean =>
  [...a].some(([name, value]) => b.has(name) && b.get(name) !== value);

const share = (a: Tags = new Map(), b: Tags = new Map()): boolean => [...a].some(([name]) => b.has(name));

const isRelated = (a: string | undefined, b: string | undefined): boolean =>
  a === b || a === undefined || b === undefined || [a, b].every((type) => type === 'integer' || type === 'number');
