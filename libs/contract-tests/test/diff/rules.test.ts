import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { RULES } from '../../src/diff/rules.ts';
import { document, type Node, received, rules, sent } from './documents.ts';

/** A pair of documents, the rules of the change, and those of the change back. */
type Pair = [name: string, before: Node, after: Node, forth: string[], back: string[]];

const parameter = (more: Node) => document({ parameters: [{ in: 'query', name: 'q', schema: {}, ...more }] });
const responses = (value: Node) => document({ responses: value });
const header = (value?: Node) => responses({ 200: { headers: value ? { 'X-A': value } : {} } });
const body = (value: Node) => document({ requestBody: value });
const fields = (required: string[], ...names: string[]) => ({
  type: 'object',
  required,
  properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
});
const scheme = (value: string) =>
  document({}, { components: { securitySchemes: { s: { type: 'http', scheme: value } } } });

const PAIRS: Pair[] = [
  ['an operation', document(), document({}, { paths: {} }), ['operation-removed'], ['operation-added']],
  ['a deprecation', document(), document({ deprecated: true }), ['operation-deprecated'], ['operation-restored']],
  [
    'an operationId',
    document({ operationId: undefined }),
    document(),
    ['operation-id-added'],
    ['operation-id-changed'],
  ],
  ['an optional parameter', document(), parameter({}), ['parameter-added'], ['parameter-removed']],
  ['a required parameter', document(), parameter({ required: true }), ['parameter-required'], ['parameter-removed']],
  ['a requirement', parameter({}), parameter({ required: true }), ['parameter-required'], ['parameter-optional']],
  [
    'the place of a parameter',
    parameter({}),
    parameter({ in: 'header' }),
    ['parameter-moved', 'parameter-added'],
    ['parameter-moved', 'parameter-added'],
  ],
  [
    'the style of a parameter',
    parameter({}),
    parameter({ style: 'form' }),
    ['parameter-format-changed'],
    ['parameter-format-changed'],
  ],
  ['a body', document(), body({}), ['body-added'], ['body-removed']],
  ['a required body', body({}), body({ required: true }), ['body-required'], ['body-optional']],
  [
    'the encoding of a body',
    body({ content: { 'a/b': {} } }),
    body({ content: { 'a/b': { encoding: { a: {} } } } }),
    ['body-encoding-changed'],
    ['body-encoding-changed'],
  ],
  ['a type of a body', body({}), body({ content: { 'a/b': {} } }), ['request-type-added'], ['request-type-removed']],
  ['a sent field', sent(fields([], 'a')), sent(fields([])), ['request-field-removed'], ['request-field-added']],
  [
    'a new required field',
    sent(fields([])),
    sent(fields(['a'], 'a')),
    ['request-field-required'],
    ['request-field-removed'],
  ],
  [
    'a field that must be sent',
    sent(fields([], 'a')),
    sent(fields(['a'], 'a')),
    ['request-field-required'],
    ['request-field-optional'],
  ],
  ['a default', sent({}), sent({ default: 1 }), ['request-default-added'], ['request-default-changed']],
  ['a success', responses({}), responses({ 201: {} }), ['success-status-added'], ['success-status-removed']],
  ['an error', responses({}), responses({ 404: {} }), ['error-status-added'], ['error-status-removed']],
  [
    'a type of an answer',
    responses({ 200: {} }),
    responses({ 200: { content: { 'a/b': {} } } }),
    ['response-type-added'],
    ['response-type-removed'],
  ],
  ['a header', header(), header({}), ['response-header-added'], ['response-header-removed']],
  [
    'a certain header',
    header({}),
    header({ required: true }),
    ['response-header-required'],
    ['response-header-optional'],
  ],
  [
    'a received field',
    received(fields(['a'], 'a')),
    received(fields([])),
    ['response-field-removed'],
    ['response-field-added'],
  ],
  [
    'a certain field',
    received(fields([], 'a')),
    received(fields(['a'], 'a')),
    ['response-field-required'],
    ['response-field-optional'],
  ],
  [
    'a credential',
    document({ security: [{ a: [] }, { b: [] }] }),
    document({ security: [{ a: [] }] }),
    ['security-narrowed'],
    ['security-widened'],
  ],
  ['a needed credential', document(), document({ security: [{ a: [] }] }), ['security-narrowed'], ['security-widened']],
  [
    'a scope',
    document({ security: [{ a: ['r'] }] }),
    document({ security: [{ a: ['r', 'w'] }] }),
    ['security-narrowed'],
    ['security-widened'],
  ],
  ['a scheme', scheme('basic'), scheme('bearer'), ['security-scheme-changed'], ['security-scheme-changed']],
  ['a server', document(), document({}, { servers: [{ url: '/v1' }] }), ['server-added'], ['server-removed']],
  ['an unknown keyword', sent({}), sent({ not: {} }), ['unknown-keyword-changed'], ['unknown-keyword-changed']],
  ['a deprecated value', sent({}), sent({ deprecated: true }), ['schema-deprecated'], ['text-changed']],
  ['a description', sent({}), sent({ description: 'a' }), ['text-changed'], ['text-changed']],
  [
    'a closed object',
    sent({ type: 'object' }),
    sent({ type: 'object', additionalProperties: false }),
    ['request-value-narrowed'],
    ['request-value-widened'],
  ],
  [
    'the values of a map',
    received({ type: 'object', additionalProperties: { type: 'string' } }),
    received({ type: 'object', additionalProperties: false }),
    ['response-field-removed'],
    ['response-field-added'],
  ],
];

test.each(PAIRS)('names the rule in both directions when %s changes', (...[, before, after, forth, back]) => {
  expect(rules(before, after)).toEqual(forth);
  expect(rules(after, before)).toEqual(back);
});

/** The second schema is valid for fewer values. */
const NARROWED: [string, unknown, unknown][] = [
  ['enum', { enum: ['a', 'b'] }, { enum: ['a'] }],
  ['const', { enum: ['a', 'b'] }, { const: 'a' }],
  ['any to a type', {}, { type: 'string' }],
  ['number to integer', { type: 'number' }, { type: 'integer' }],
  ['null', { type: ['string', 'null'] }, { type: 'string' }],
  ['null of anyOf', { anyOf: [{ type: 'string' }, { type: 'null' }] }, { type: 'string' }],
  ['an alternative', { oneOf: [{ type: 'string' }, { type: 'array' }] }, { type: 'array' }],
  ['maximum', { type: 'integer', maximum: 2 }, { type: 'integer', maximum: 1 }],
  ['exclusiveMinimum', { type: 'number', minimum: 1 }, { type: 'number', exclusiveMinimum: 1 }],
  ['minLength', { type: 'string' }, { type: 'string', minLength: 1 }],
  ['maxItems', { type: 'array' }, { type: 'array', maxItems: 1 }],
  ['uniqueItems', { type: 'array' }, { type: 'array', uniqueItems: true }],
  ['items', { type: 'array' }, { type: 'array', items: { type: 'string' } }],
  ['pattern', { type: 'string' }, { type: 'string', pattern: 'a' }],
  ['format', { type: 'string' }, { type: 'string', format: 'uuid' }],
  ['allOf', { type: 'string' }, { allOf: [{ type: 'string' }, { maxLength: 1 }] }],
  ['propertyNames', { type: 'object' }, { type: 'object', propertyNames: { maxLength: 1 } }],
];

test.each(NARROWED)('is breaking in requests and additive in answers when %s is narrowed', (_name, wide, narrow) => {
  expect(rules(sent(wide), sent(narrow))).toEqual(['request-value-narrowed']);
  expect(rules(sent(narrow), sent(wide))).toEqual(['request-value-widened']);
  expect(rules(received(wide), received(narrow))).toEqual(['response-value-narrowed']);
  expect(rules(received(narrow), received(wide))).toEqual(['response-value-widened']);
});

test.each(['pattern', 'format'])('is breaking in both directions when a %s changes', (keyword) => {
  const [a, b] = ['a', 'b'].map((value) => ({ type: 'string', [keyword]: value }));
  expect(rules(sent(a), sent(b))).toEqual(['request-value-changed']);
  expect(rules(received(a), received(b))).toEqual(['response-value-changed']);
});

test.each([
  ['type and anyOf', { type: ['string', 'null'] }, { anyOf: [{ type: 'string' }, { type: 'null' }] }],
  ['const and enum', { const: 'a' }, { type: 'string', enum: ['a'] }],
  ['both bounds of an integer', { type: 'integer', exclusiveMinimum: 0 }, { type: 'integer', minimum: 1 }],
  ['the order of required', { required: ['a', 'b'] }, { required: ['b', 'a'] }],
])('finds no change when only the notation of %s differs', (_name, a, b) => {
  expect(rules(sent(a), sent(b))).toEqual([]);
});

test('has a row for each rule when the README lists them', () => {
  const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
  const rows = [...readme.matchAll(/^\| `([a-z-]+)` \| (breaking|additive|cosmetic) \|/gm)];
  expect(Object.fromEntries(rows.map(([, rule, level]) => [rule, level]))).toEqual(RULES);
});

test('has a test for each rule when the pairs are counted', () => {
  const values = ['request', 'response'].flatMap((way) =>
    ['narrowed', 'widened', 'changed'].map((x) => `${way}-value-${x}`),
  );
  const tested = new Set([...PAIRS.flatMap(([, , , forth, back]) => [...forth, ...back]), ...values]);
  expect(Object.keys(RULES).filter((rule) => !tested.has(rule))).toEqual([]);
});
