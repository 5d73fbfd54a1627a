import { type Comparison, within } from './change.ts';
import { diffSchema } from './diff-schema.ts';
import { type Json, objectAt } from './openapi-document.ts';

const isSuccess = (status: string): boolean => /^[123]/.test(status);

/** Adds the changes between the answers of two operations. */
export function diffResponses(comparison: Comparison, place: string, [before, after]: readonly [Json, Json]): void {
  for (const status of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const at = within(place, `response ${status}`);
    const kind = isSuccess(status) ? 'success' : 'error';
    if (!Object.hasOwn(after, status)) comparison.add(`${kind}-status-removed`, at, 'is gone');
    else if (!Object.hasOwn(before, status)) comparison.add(`${kind}-status-added`, at, 'is a new status');
    else {
      const [a, b] = [comparison.before.resolve(before[status]), comparison.after.resolve(after[status])];
      comparison.texts(at, a, b);
      diffTypes(comparison, at, [objectAt(a, 'content'), objectAt(b, 'content')]);
      diffHeaders(comparison, at, [objectAt(a, 'headers'), objectAt(b, 'headers')]);
      comparison.same('unknown-keyword-changed', within(at, 'links'), [a.links, b.links]);
    }
  }
}

function diffTypes(comparison: Comparison, place: string, [before, after]: readonly [Json, Json]): void {
  for (const type of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const at = within(place, type);
    if (!Object.hasOwn(after, type)) comparison.add('response-type-removed', at, 'is gone');
    else if (!Object.hasOwn(before, type)) comparison.add('response-type-added', at, 'is a new content type');
    else {
      const [a, b] = [objectAt(before, type), objectAt(after, type)];
      comparison.texts(at, a, b);
      diffSchema({ comparison, direction: 'response', place: at }, a.schema, b.schema);
    }
  }
}

function diffHeaders(comparison: Comparison, place: string, [before, after]: readonly [Json, Json]): void {
  const [a, b] = [lowerCase(before), lowerCase(after)];
  for (const name of new Set([...a.keys(), ...b.keys()])) {
    const at = within(place, `header ${name}`);
    if (!b.has(name)) comparison.add('response-header-removed', at, 'is gone');
    else if (!a.has(name)) comparison.add('response-header-added', at, 'is a new header');
    else diffHeader(comparison, at, [comparison.before.resolve(a.get(name)), comparison.after.resolve(b.get(name))]);
  }
}

const lowerCase = (headers: Json): Map<string, unknown> =>
  new Map(Object.entries(headers).map(([name, header]) => [name.toLowerCase(), header]));

function diffHeader(comparison: Comparison, place: string, [before, after]: readonly [Json, Json]): void {
  comparison.texts(place, before, after);
  const required = after.required === true;
  if ((before.required === true) !== required)
    comparison.add(
      required ? 'response-header-required' : 'response-header-optional',
      place,
      `is now ${required ? 'required' : 'optional'}`,
    );
  diffSchema({ comparison, direction: 'response', place }, before.schema, after.schema);
}
