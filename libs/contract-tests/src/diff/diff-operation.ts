import { type Comparison, within } from './change.ts';
import { diffSchema } from './diff-schema.ts';
import { diffSecurity } from './diff-security.ts';
import { type Json, type Operation, objectAt } from './openapi-document.ts';

/** Adds the changes between two operations with the same method and path, except of their parameters and answers. */
export function diffOperation(comparison: Comparison, place: string, [before, after]: readonly [Operation, Operation]) {
  const [a, b] = [before.node, after.node];
  comparison.texts(place, a, b);
  const isDeprecated = [a.deprecated === true, b.deprecated === true];
  if (isDeprecated[0] !== isDeprecated[1])
    comparison.add(
      isDeprecated[1] ? 'operation-deprecated' : 'operation-restored',
      place,
      isDeprecated[1] ? 'is now deprecated' : 'is no longer deprecated',
    );
  comparison.same(
    a.operationId === undefined ? 'operation-id-added' : 'operation-id-changed',
    within(place, 'operationId'),
    [a.operationId, b.operationId],
  );
  diffBody(comparison, within(place, 'body'), [a.requestBody, b.requestBody]);
  diffSecurity(comparison, within(place, 'security'), [a, b]);
  comparison.same('unknown-keyword-changed', within(place, 'callbacks'), [a.callbacks, b.callbacks]);
  comparison.same('unknown-keyword-changed', within(place, 'servers'), [
    a.servers ?? before.item.servers,
    b.servers ?? after.item.servers,
  ]);
}

function diffBody(comparison: Comparison, place: string, [before, after]: readonly [unknown, unknown]): void {
  const [a, b] = [comparison.before.resolve(before), comparison.after.resolve(after)];
  if (before === undefined && after === undefined) return;
  if (after === undefined) comparison.add('body-removed', place, 'is gone');
  else if (before === undefined)
    comparison.add(b.required === true ? 'body-required' : 'body-added', place, 'is a new body');
  else {
    comparison.texts(place, a, b);
    const required = b.required === true;
    if ((a.required === true) !== required)
      comparison.add(
        required ? 'body-required' : 'body-optional',
        place,
        `is now ${required ? 'required' : 'optional'}`,
      );
    diffBodyTypes(comparison, place, [objectAt(a, 'content'), objectAt(b, 'content')]);
  }
}

function diffBodyTypes(comparison: Comparison, place: string, [before, after]: readonly [Json, Json]): void {
  for (const type of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const at = within(place, type);
    if (!Object.hasOwn(after, type)) comparison.add('request-type-removed', at, 'is no longer accepted');
    else if (!Object.hasOwn(before, type)) comparison.add('request-type-added', at, 'is a new content type');
    else {
      const [a, b] = [objectAt(before, type), objectAt(after, type)];
      comparison.texts(at, a, b);
      comparison.same('body-encoding-changed', within(at, 'encoding'), [a.encoding, b.encoding]);
      diffSchema({ comparison, direction: 'request', place: at }, a.schema, b.schema);
    }
  }
}
