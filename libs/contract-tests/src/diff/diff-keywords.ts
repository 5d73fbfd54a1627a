import { isDeepStrictEqual } from 'node:util';
import { type Nested, type Site, shown, within } from './change.ts';
import { type Alternative, ANY, isObject, type Json, listAt } from './openapi-document.ts';

const RESTRICTIONS = ['pattern', 'format', 'multipleOf', 'contentEncoding', 'contentMediaType', 'contentSchema'];
const BOUNDS = ['minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties'];
const NUMBERS = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'];
const FIELDS = ['properties', 'required', 'additionalProperties', 'patternProperties', 'propertyNames'];
const HANDLED = [...RESTRICTIONS, ...BOUNDS, ...NUMBERS, ...FIELDS, 'enum', 'uniqueItems', 'items', 'prefixItems'];

/** Adds the changes between the keywords of two alternatives of the same type. */
export function diffKeywords(site: Site, before: Alternative, after: Alternative, nested: Nested): void {
  const [a, b] = [before.keywords, after.keywords];
  for (const key of RESTRICTIONS) diffRestriction(site, key, [a[key], b[key]]);
  for (const key of BOUNDS) diffBound(site, key, [lengthBound(key, a), lengthBound(key, b)]);
  for (const key of ['minimum', 'maximum'] as const)
    diffBound(site, key, [numberBound(key, before), numberBound(key, after)]);
  diffRestriction(site, 'uniqueItems', [a.uniqueItems || undefined, b.uniqueItems || undefined]);
  diffEnum(site, a.enum, b.enum);
  diffItems(site, a, b, nested);
  for (const key of new Set([...Object.keys(a), ...Object.keys(b)]))
    if (!HANDLED.includes(key))
      site.comparison.same('unknown-keyword-changed', within(site.place, key), [a[key], b[key]]);
}

type Effect = 'narrowed' | 'widened' | 'changed';

function report(site: Site, effect: Effect, keyword: string, text: string): void {
  site.comparison.add(`${site.direction}-value-${effect}`, within(site.place, keyword), text);
}

function diffRestriction(site: Site, keyword: string, [before, after]: readonly [unknown, unknown]): void {
  if (isDeepStrictEqual(before, after)) return;
  const effect = before === undefined ? 'narrowed' : after === undefined ? 'widened' : 'changed';
  report(site, effect, keyword, `${shown(before)} became ${shown(after)}`);
}

interface Bound {
  readonly value: number;
  readonly exclusive: boolean;
}

const numberAt = (node: Json, key: string, otherwise: number): number => {
  const value = node[key];
  return typeof value === 'number' ? value : otherwise;
};

const lengthBound = (key: string, keywords: Json): Bound => ({
  value: numberAt(keywords, key, key.startsWith('min') ? 0 : Infinity),
  exclusive: false,
});

/** The stricter one of an inclusive and an exclusive bound. An exclusive one of an integer becomes inclusive. */
function numberBound(key: 'minimum' | 'maximum', { type, keywords }: Alternative): Bound {
  const [exclusiveKey, none, step] =
    key === 'minimum' ? (['exclusiveMinimum', -Infinity, 1] as const) : (['exclusiveMaximum', Infinity, -1] as const);
  const inclusive = numberAt(keywords, key, none);
  const given = numberAt(keywords, exclusiveKey, none);
  const isWhole = type === 'integer' && Number.isInteger(given);
  const exclusive = isWhole ? given + step : given;
  if (exclusive === inclusive) return { value: inclusive, exclusive: !isWhole && Number.isFinite(inclusive) };
  const isStricter = key === 'minimum' ? exclusive > inclusive : exclusive < inclusive;
  return isStricter ? { value: exclusive, exclusive: !isWhole } : { value: inclusive, exclusive: false };
}

function diffBound(site: Site, keyword: string, [before, after]: readonly [Bound, Bound]): void {
  if (isDeepStrictEqual(before, after)) return;
  const moved = before.value === after.value ? Number(after.exclusive) - 0.5 : after.value - before.value;
  const isStricter = before.value === after.value ? moved > 0 : keyword.startsWith('min') ? moved > 0 : moved < 0;
  report(site, isStricter ? 'narrowed' : 'widened', keyword, `${boundText(before)} became ${boundText(after)}`);
}

const boundText = ({ value, exclusive }: Bound): string =>
  Number.isFinite(value) ? `${value}${exclusive ? ' (exclusive)' : ''}` : 'no limit';

function diffEnum(site: Site, before: unknown, after: unknown): void {
  if (!Array.isArray(before) || !Array.isArray(after)) {
    diffRestriction(site, 'enum', [before, after]);
    return;
  }
  const missing = (from: unknown[], value: unknown) => !from.some((other) => isDeepStrictEqual(value, other));
  for (const value of before.filter((one) => missing(after, one)))
    report(site, 'narrowed', 'enum', `${shown(value)} is no longer a value`);
  for (const value of after.filter((one) => missing(before, one)))
    report(site, 'widened', 'enum', `${shown(value)} is a new value`);
}

function diffItems(site: Site, before: Json, after: Json, nested: Nested): void {
  const [a, b] = [listAt(before, 'prefixItems'), listAt(after, 'prefixItems')];
  const rest = [before.items ?? ANY, after.items ?? ANY] as const;
  for (let index = 0; index < Math.max(a.length, b.length); index++) {
    const place = within(site.place, String(index));
    nested({ ...site, place }, a[index] ?? rest[0], b[index] ?? rest[1]);
  }
  if (isObject(before.items) || isObject(after.items) || rest[0] !== rest[1])
    nested({ ...site, place: within(site.place, 'items') }, rest[0], rest[1]);
}
