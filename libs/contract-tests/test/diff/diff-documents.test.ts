import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { diffDocuments } from '../../src/diff/diff-documents.ts';
import { DocumentError, OpenApiDocument } from '../../src/diff/openapi-document.ts';
import { changes, document, type Node, received, rules, sent } from './documents.ts';

const { schema } = fc.letrec<{ schema: Node; object: Node; leaf: Node }>((tie) => ({
  leaf: fc.oneof(
    fc.constantFrom<Node>({ type: 'boolean' }, { type: 'null' }, {}, { $ref: '#/components/schemas/Tree' }),
    fc.record({ type: fc.constant('string'), maxLength: fc.nat(9) }),
    fc.record({ enum: fc.uniqueArray(fc.constantFrom('a', 'b', 'c'), { minLength: 1 }) }),
  ),
  object: fc.record({
    type: fc.constant('object'),
    required: fc.subarray(['a', 'b']),
    properties: fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('schema')),
  }),
  schema: fc.oneof(
    { maxDepth: 4 },
    tie('leaf'),
    tie('object'),
    fc.record({ type: fc.constant('array'), items: tie('schema') }),
    fc.record({ anyOf: fc.array(tie('schema'), { minLength: 1, maxLength: 3 }) }),
    fc.record({ allOf: fc.array(tie('object'), { minLength: 1, maxLength: 2 }) }),
  ),
}));

const tree = (more: Node = {}) => ({
  components: {
    schemas: {
      Tree: {
        type: 'object',
        properties: { ...more, next: { anyOf: [{ $ref: '#/components/schemas/Tree' }, { type: 'null' }] } },
      },
    },
  },
});

test('finds no change when a document is compared with its copy', () => {
  fc.assert(
    fc.property(schema, (one) => {
      expect(rules(sent(one, tree()), sent(one, tree()))).toEqual([]);
      expect(rules(received(one, tree()), received(one, tree()))).toEqual([]);
    }),
  );
});

test('turns removals into additions when the documents are exchanged', () => {
  const count = (list: string[], rule: string) => list.filter((one) => one === rule).length;
  fc.assert(
    fc.property(schema, schema, (a, b) => {
      const [forth, back] = [rules(sent(a, tree()), sent(b, tree())), rules(sent(b, tree()), sent(a, tree()))];
      const isBreaking = (list: string[]) => /removed|narrowed|required|changed/.test(list.join());
      if (forth.length > 0 && !isBreaking(forth)) expect(isBreaking(back)).toBe(true);
      expect(count(forth, 'unknown-keyword-changed')).toBe(count(back, 'unknown-keyword-changed'));
    }),
  );
});

test('turns a removed field into an added one when the documents are exchanged', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string({ minLength: 1 }), schema, { minKeys: 1 }), (properties) => {
      const [name = ''] = Object.keys(properties);
      const rest = Object.fromEntries(Object.entries(properties).filter(([key]) => key !== name));
      const [whole, less] = [properties, rest].map((value) => ({ type: 'object', properties: value }));
      expect(rules(sent(whole, tree()), sent(less, tree()))).toEqual(['request-field-removed']);
      expect(rules(sent(less, tree()), sent(whole, tree()))).toEqual(['request-field-added']);
      expect(rules(received(whole, tree()), received(less, tree()))).toEqual(['response-field-removed']);
      expect(rules(received(less, tree()), received(whole, tree()))).toEqual(['response-field-added']);
    }),
  );
});

test('reports a change of a recursive schema once when many operations use it', () => {
  const ref = { $ref: '#/components/schemas/Tree' };
  const found = changes(received(ref, tree({ a: {} })), received({ ...ref }, tree()));
  expect(found).toMatchObject([{ rule: 'response-field-removed', place: 'schema Tree in responses > a' }]);
});

test('pairs the alternatives by their tags when a union changes', () => {
  const union = (...kinds: [string, Node][]) => ({
    oneOf: kinds.map(([kind, more]) => ({ type: 'object', properties: { kind: { const: kind }, ...more } })),
  });
  const before = received(union(['a', { x: {} }], ['b', { y: {} }]));
  expect(rules(before, received(union(['b', { y: {} }], ['a', { x: {} }])))).toEqual([]);
  expect(rules(before, received(union(['b', {}], ['a', { x: {} }])))).toEqual(['response-field-removed']);
  expect(rules(before, received(union(['b', { y: {} }])))).toEqual(['response-value-narrowed']);
});

test.each<[string, unknown]>([
  ['to nothing', { $ref: '#/components/schemas/None' }],
  ['out of the document', { $ref: 'https://example.org/a.json' }],
  ['to itself', { $ref: '#/paths/~1a/get/requestBody/content/application~1json/schema' }],
  ['malformed', { $ref: '#/%' }],
])('refuses the document when a reference is %s', (_name, broken) => {
  expect(() => rules(sent(broken), sent({}))).toThrow(DocumentError);
});

test.each(['', '[]', '{}', '{"openapi":"3.0.3"}', `{"openapi":"3.1.0","a":${'['.repeat(300)}${']'.repeat(300)}}`])(
  'refuses the text when it is %.40s',
  (text) => {
    expect(() => OpenApiDocument.parse(text)).toThrow(DocumentError);
  },
);

test.each(['hosted', 'monitor'])('finds planted changes alone when they are made in the document of %s', (name) => {
  const path = new URL(`../../../../docs/reference/openapi-${name}.json`, import.meta.url);
  const text = readFileSync(path, 'utf8');
  const compare = (after: Node) =>
    diffDocuments(OpenApiDocument.parse(text), OpenApiDocument.parse(JSON.stringify(after))).map(({ rule }) => rule);
  const planted = JSON.parse(text);
  expect(compare(planted)).toEqual([]);
  const [first = ''] = Object.keys(planted.paths);
  const [method = ''] = Object.keys(planted.paths[first]);
  planted.paths[first][method].operationId = 'renamed';
  planted.paths[first][method].description = 'other';
  planted.paths['/new'] = document().paths && { get: { operationId: 'new', responses: {} } };
  expect(compare(planted)).toEqual(['operation-id-changed', 'operation-added', 'text-changed']);
});
