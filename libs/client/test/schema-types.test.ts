import { expect, test } from '@jest/globals';
import type { Schema } from '../scripts/documents.ts';
import { schemaTypes } from '../scripts/schema-types.ts';

/** The type of a schema, without the text around it. */
function printed(schema: Schema): string {
  const [, text = ''] = /schemas: \{\n {8}A: ([\s\S]*?);\n {4}\};/.exec(schemaTypes({ A: schema })) ?? [];
  return text;
}

test.each<[Schema, string]>([
  [{}, 'unknown'],
  [{ type: 'integer', minimum: 1 }, 'number'],
  [{ type: ['string', 'null'] }, 'string | null'],
  [{ type: 'object' }, 'Record<string, never>'],
  [{ $ref: '#/components/schemas/Issue' }, 'components["schemas"]["Issue"]'],
  [{ type: 'array', items: { type: 'array', items: { type: 'boolean' } } }, 'boolean[][]'],
  [{ type: 'array', items: { anyOf: [{ type: 'string' }, { type: 'null' }] } }, '(string | null)[]'],
  [{ anyOf: [{ type: 'number' }, { type: 'integer' }] }, 'number'],
])('prints the type of %j', (schema, text) => {
  expect(printed(schema)).toBe(text);
});

test.each<[Schema, string]>([
  [{ type: 'string', const: 'a' }, '/** @constant */\nA: "a";'],
  [{ type: ['string', 'null'], enum: ['a', 'b'] }, '/** @enum {string|null} */\nA: "a" | "b" | null;'],
  [{ type: 'string', format: 'uuid', default: '' }, '/**\n * Format: uuid\n * @default\n */\nA: string;'],
  [{ type: 'string', description: 'Ends with */' }, '/** @description Ends with *\\/ */\nA: string;'],
])('prints the comment of %j', (schema, text) => {
  expect(schemaTypes({ A: schema }).replaceAll('\n        ', '\n')).toContain(text);
});

test('prints optional properties, names in quotes and an index signature', () => {
  const property = { type: 'string' };
  const schema = {
    type: 'object',
    required: ['a'],
    properties: { a: property, 'b-c': property },
    additionalProperties: {},
  };
  expect(printed(schema).replaceAll(/\s+/g, ' ')).toBe('{ a: string; "b-c"?: string; } & { [key: string]: unknown; }');
});

test('rejects a keyword that it does not print', () => {
  expect(() => printed({ allOf: [] })).toThrow('the keyword allOf');
});
