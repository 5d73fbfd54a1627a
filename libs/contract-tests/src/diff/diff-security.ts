import { isDeepStrictEqual } from 'node:util';
import { type Comparison, shown, within } from './change.ts';
import { isObject, type Json, listAt, objectAt } from './openapi-document.ts';

/** Adds the changes between the credentials that two operations accept. */
export function diffSecurity(comparison: Comparison, place: string, [before, after]: readonly [Json, Json]): void {
  const [a, b] = [acceptedBy(before, comparison.before.root), acceptedBy(after, comparison.after.root)];
  for (const one of a)
    if (!b.some((other) => suffices(one, other)))
      comparison.add('security-narrowed', place, `${shown(one)} is no longer enough`);
  for (const one of b)
    if (!a.some((other) => suffices(one, other)))
      comparison.add('security-widened', place, `${shown(one)} is enough now`);
}

/** The combinations of credentials of which each is enough. Without any, no credential is needed. */
function acceptedBy(operation: Json, root: Json): Json[] {
  const listed = operation.security === undefined ? listAt(root, 'security') : listAt(operation, 'security');
  return listed.length === 0 ? [{}] : listed.filter(isObject);
}

/** Whether credentials meet a requirement: they include each of its schemes with each of its scopes. */
const suffices = (credentials: Json, requirement: Json): boolean =>
  Object.keys(requirement).every(
    (scheme) =>
      Object.hasOwn(credentials, scheme) &&
      listAt(requirement, scheme).every((scope) => listAt(credentials, scheme).includes(scope)),
  );

/** Adds the changes of schemes that both documents declare. Removed ones show at the operations that used them. */
export function diffSecuritySchemes(comparison: Comparison): void {
  const [before, after] = [comparison.before, comparison.after].map(({ root }) =>
    objectAt(objectAt(root, 'components'), 'securitySchemes'),
  ) as [Json, Json];
  for (const name of Object.keys(before).filter((key) => Object.hasOwn(after, key))) {
    const place = `security scheme ${name}`;
    const [a, b] = [comparison.before.resolve(before[name]), comparison.after.resolve(after[name])];
    comparison.texts(place, a, b);
    for (const key of new Set([...Object.keys(a), ...Object.keys(b)]))
      if (key !== 'description' && !key.startsWith('x-') && !isDeepStrictEqual(a[key], b[key]))
        comparison.same('security-scheme-changed', within(place, key), [a[key], b[key]]);
  }
}
