import { type Nested, type Site, within } from './change.ts';
import { ANY, isObject, type Json, listAt, objectAt } from './openapi-document.ts';

/** Adds the changes between the fields of two object schemas. */
export function diffFields(site: Site, before: Json, after: Json, nested: Nested): void {
  const names = [before, after].flatMap((schema) => [
    ...Object.keys(objectAt(schema, 'properties')),
    ...listAt(schema, 'required').map(String),
  ]);
  for (const name of new Set(names)) diffField(site, name, [fieldOf(before, name), fieldOf(after, name)], nested);
  diffOthers(site, before.additionalProperties ?? true, after.additionalProperties ?? true, nested);
  diffPatterns(site, objectAt(before, 'patternProperties'), objectAt(after, 'patternProperties'), nested);
  if (isObject(before.propertyNames) || isObject(after.propertyNames))
    nested({ ...site, place: within(site.place, 'propertyNames') }, nameSchema(before), nameSchema(after));
}

/** The schema of the names of fields, which are strings. */
const nameSchema = ({ propertyNames = ANY }: Json): Json => ({ allOf: [{ type: 'string' }, propertyNames] });

interface Field {
  readonly schema: unknown;
  readonly required: boolean;
}

function fieldOf(schema: Json, name: string): Field | undefined {
  const properties = objectAt(schema, 'properties');
  const required = listAt(schema, 'required').includes(name);
  if (Object.hasOwn(properties, name)) return { schema: properties[name], required };
  return required ? { schema: ANY, required } : undefined;
}

function diffField(
  site: Site,
  name: string,
  [before, after]: readonly [Field | undefined, Field | undefined],
  nested: Nested,
): void {
  const { comparison, direction } = site;
  const place = within(site.place, name);
  const word = after?.required ? 'required' : 'optional';
  if (!after) comparison.add(`${direction}-field-removed`, place, 'is gone');
  else if (!before) {
    const isNeeded = direction === 'request' && after.required;
    comparison.add(isNeeded ? 'request-field-required' : `${direction}-field-added`, place, `is a new ${word} field`);
  } else {
    if (before.required !== after.required) comparison.add(`${direction}-field-${word}`, place, `is now ${word}`);
    nested({ ...site, place }, before.schema, after.schema);
  }
}

/** Compares fields under undeclared names. Clients must tolerate new ones in answers. */
function diffOthers(site: Site, before: unknown, after: unknown, nested: Nested): void {
  const { comparison, direction } = site;
  const place = within(site.place, '*');
  if (before !== false && after !== false) {
    if (isObject(before) || isObject(after)) nested({ ...site, place }, anyIfTrue(before), anyIfTrue(after));
  } else if (before === false && after !== false)
    comparison.add(
      direction === 'request' ? 'request-value-widened' : 'response-field-added',
      place,
      'other fields are allowed now',
    );
  else if (before !== false) {
    const isMap = isObject(before) && Object.keys(before).length > 0;
    const rule = isMap ? (`${direction}-field-removed` as const) : (`${direction}-value-narrowed` as const);
    comparison.add(rule, place, 'other fields are no longer allowed');
  }
}

const anyIfTrue = (schema: unknown): unknown => (schema === true ? ANY : schema);

function diffPatterns(site: Site, before: Json, after: Json, nested: Nested): void {
  for (const pattern of new Set([...Object.keys(before), ...Object.keys(after)]))
    nested({ ...site, place: within(site.place, pattern) }, before[pattern] ?? ANY, after[pattern] ?? ANY);
}
