import { type Comparison, within } from './change.ts';
import { diffSchema } from './diff-schema.ts';
import { type Json, listAt, type OpenApiDocument, type Operation } from './openapi-document.ts';

/** Adds the changes between the parameters of two operations. A parameter is identified by its place and name. */
export function diffParameters(
  comparison: Comparison,
  place: string,
  [before, after]: readonly [Operation, Operation],
): void {
  const [a, b] = [parametersOf(comparison.before, before), parametersOf(comparison.after, after)];
  for (const [key, parameter] of a) {
    const at = within(place, key);
    const other = b.get(key);
    if (other) diffParameter(comparison, at, [parameter, other]);
    else {
      const moved = [...b].find(([id, { name }]) => name === parameter.name && !a.has(id));
      if (moved) comparison.add('parameter-moved', at, `moved to ${moved[0]}`);
      else comparison.add('parameter-removed', at, 'is gone');
    }
  }
  for (const [key, parameter] of b) {
    if (a.has(key)) continue;
    const required = parameter.required === true;
    const rule = required ? 'parameter-required' : 'parameter-added';
    comparison.add(rule, within(place, key), `is a new ${required ? 'required' : 'optional'} parameter`);
  }
}

function parametersOf(document: OpenApiDocument, { item, node }: Operation): Map<string, Json> {
  const all = [...listAt(item, 'parameters'), ...listAt(node, 'parameters')].map((one) => document.resolve(one));
  // Header names are case-insensitive.
  const nameOf = ({ in: where, name }: Json) => (where === 'header' ? String(name).toLowerCase() : String(name));
  return new Map(all.map((one) => [`${one.in} ${nameOf(one)}`, one]));
}

function diffParameter(comparison: Comparison, place: string, [before, after]: readonly [Json, Json]): void {
  comparison.texts(place, before, after);
  const required = after.required === true;
  if ((before.required === true) !== required)
    comparison.add(
      required ? 'parameter-required' : 'parameter-optional',
      place,
      `is now ${required ? 'required' : 'optional'}`,
    );
  if (before.deprecated !== true && after.deprecated === true)
    comparison.add('schema-deprecated', place, 'is now deprecated');
  for (const key of ['style', 'explode', 'allowReserved', 'allowEmptyValue', 'content'])
    comparison.same('parameter-format-changed', within(place, key), [before[key], after[key]]);
  diffSchema({ comparison, direction: 'request', place }, before.schema, after.schema);
}
