import { type Change, Comparison, within } from './change.ts';
import { diffOperation } from './diff-operation.ts';
import { diffParameters } from './diff-parameters.ts';
import { diffResponses } from './diff-responses.ts';
import { diffSecuritySchemes } from './diff-security.ts';
import { isObject, listAt, type OpenApiDocument, type Operation, objectAt } from './openapi-document.ts';

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'];

/** Compares two OpenAPI documents. Breaking changes come first, then additive and cosmetic ones. */
export function diffDocuments(before: OpenApiDocument, after: OpenApiDocument): Change[] {
  const comparison = new Comparison(before, after);
  const [a, b] = [operationsOf(before), operationsOf(after)];
  for (const place of new Set([...a.keys(), ...b.keys()])) {
    const [one, other] = [a.get(place), b.get(place)];
    if (one && other) {
      diffOperation(comparison, place, [one, other]);
      diffParameters(comparison, place, [one, other]);
      diffResponses(comparison, place, [objectAt(one.node, 'responses'), objectAt(other.node, 'responses')]);
    } else if (one) comparison.add('operation-removed', place, 'is gone');
    else comparison.add('operation-added', place, 'is a new operation');
  }
  diffSecuritySchemes(comparison);
  diffServers(comparison);
  comparison.texts('document', before.root, after.root);
  comparison.same('text-changed', within('document', 'info'), [before.root.info, after.root.info]);
  comparison.same('unknown-keyword-changed', 'webhooks', [before.root.webhooks, after.root.webhooks]);
  const order = ['breaking', 'additive', 'cosmetic'];
  return comparison.changes.sort((x, y) => order.indexOf(x.level) - order.indexOf(y.level));
}

function operationsOf(document: OpenApiDocument): Map<string, Operation> {
  const items = Object.entries(objectAt(document.root, 'paths')).map(
    ([path, item]) => [path, document.resolve(item)] as const,
  );
  return new Map(
    items.flatMap(([path, item]) =>
      METHODS.filter((method) => isObject(item[method])).map(
        (method) => [`${method.toUpperCase()} ${path}`, { item, node: objectAt(item, method) }] as const,
      ),
    ),
  );
}

function diffServers(comparison: Comparison): void {
  const [a, b] = [comparison.before, comparison.after].map(({ root }) =>
    listAt(root, 'servers').flatMap((server) => (isObject(server) ? [String(server.url)] : [])),
  ) as [string[], string[]];
  for (const url of a) if (!b.includes(url)) comparison.add('server-removed', `server ${url}`, 'is gone');
  for (const url of b) if (!a.includes(url)) comparison.add('server-added', `server ${url}`, 'is a new server');
}
