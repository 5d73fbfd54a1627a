import { type Site, shown, within } from './change.ts';
import { diffFields } from './diff-fields.ts';
import { diffKeywords } from './diff-keywords.ts';
import { type Alternative, ANY, isObject, type Json, listAt } from './openapi-document.ts';
import { pairAlternatives } from './pair-alternatives.ts';
import { alternativesOf } from './schema-alternatives.ts';

/** Adds the changes between two schemas. A pair of schemas is compared once for requests and once for answers. */
export function diffSchema(site: Site, before: unknown, after: unknown): void {
  const { comparison, direction } = site;
  const [a, b] = [objectOf(before), objectOf(after)];
  if (!comparison.first(`${direction} ${identity(a)} ${identity(b)}`)) return;
  diffNotes(site, a, b);
  if (typeof a.$ref === 'string' && typeof b.$ref === 'string' && isPlain(a) && isPlain(b)) {
    diffReferences(site, a.$ref, b.$ref);
    return;
  }
  const [restA, restB] = withoutShared(site, a, b);
  const alternatives = [
    alternativesOf(comparison.before, restA === a ? before : restA),
    alternativesOf(comparison.after, restB === b ? after : restB),
  ] as const;
  const { pairs, removed, added } = pairAlternatives(alternatives, [comparison.before, comparison.after]);
  for (const one of removed)
    comparison.add(`${direction}-value-narrowed`, site.place, `${nameOf(one)} is no longer a value`);
  for (const one of added) comparison.add(`${direction}-value-widened`, site.place, `${nameOf(one)} is a new value`);
  for (const [one, other] of pairs) diffAlternative(site, one, other);
}

const objectOf = (schema: unknown): Json => (isObject(schema) ? schema : schema === false ? NOTHING : ANY);
const NOTHING: Json = { not: {} };

const NOTES = ['title', 'description', 'default', 'deprecated', 'example', 'examples', '$ref'];
const isPlain = (schema: Json): boolean => Object.keys(schema).every((key) => NOTES.includes(key));

const identities = new WeakMap<object, number>();
let last = 0;

function identity(schema: Json): number {
  const id = identities.get(schema) ?? ++last;
  identities.set(schema, id);
  return id;
}

function diffReferences(site: Site, before: string, after: string): void {
  const { comparison, direction } = site;
  if (!comparison.first(`${direction} ${before} ${after}`)) return;
  const name = after.split('/').at(-1) ?? after;
  const place = before === after ? `schema ${name} in ${direction}s` : site.place;
  diffSchema({ ...site, place }, comparison.before.target(before), comparison.after.target(after));
}

/** Compares the references that a union has in both documents on their own, and returns the schemas without them. */
function withoutShared(site: Site, before: Json, after: Json): readonly [Json, Json] {
  let schemas: readonly [Json, Json] = [before, after];
  for (const key of ['oneOf', 'anyOf']) {
    const [a, b] = [listAt(before, key), listAt(after, key)];
    const refs = a.flatMap((one) => (isObject(one) && typeof one.$ref === 'string' && isPlain(one) ? [one.$ref] : []));
    const isShared = (ref: string) => b.some((one) => isObject(one) && one.$ref === ref && isPlain(one));
    const shared = refs.filter(isShared);
    if (shared.length === 0) continue;
    for (const ref of shared) diffReferences(site, ref, ref);
    const others = (list: readonly unknown[]) =>
      list.filter((one) => !(isObject(one) && shared.includes(String(one.$ref))));
    schemas = [
      { ...schemas[0], [key]: others(a) },
      { ...schemas[1], [key]: others(b) },
    ];
  }
  return schemas;
}

const nameOf = ({ type, keywords }: Alternative): string =>
  Array.isArray(keywords.enum) ? shown(keywords.enum) : (type ?? 'any type');

function diffAlternative(site: Site, before: Alternative, after: Alternative): void {
  if (before.type !== after.type) {
    const widened = after.type === undefined || (after.type === 'number' && before.type === 'integer');
    const rule = `${site.direction}-value-${widened ? 'widened' : 'narrowed'}` as const;
    site.comparison.add(rule, within(site.place, 'type'), `${nameOf(before)} became ${nameOf(after)}`);
  }
  diffKeywords(site, before, after, diffSchema);
  diffFields(site, before.keywords, after.keywords, diffSchema);
}

/** Compares what is no constraint: texts, defaults, deprecation, discriminators. */
function diffNotes(site: Site, before: Json, after: Json): void {
  const { comparison, direction, place } = site;
  comparison.texts(place, before, after);
  if (before.deprecated !== true && after.deprecated === true)
    comparison.add('schema-deprecated', place, 'is now deprecated');
  else if (before.deprecated === true && after.deprecated !== true)
    comparison.add('text-changed', within(place, 'deprecated'), 'is no longer deprecated');
  const defaults = [before.default, after.default] as const;
  if (direction === 'response') comparison.same('text-changed', within(place, 'default'), defaults);
  else if (before.default !== undefined) comparison.same('request-default-changed', within(place, 'default'), defaults);
  else comparison.same('request-default-added', within(place, 'default'), defaults);
  const discriminators = [before.discriminator, after.discriminator] as const;
  comparison.same(`${direction}-value-changed`, within(place, 'discriminator'), discriminators);
}
