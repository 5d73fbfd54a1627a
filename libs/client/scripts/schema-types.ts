import type { Schema } from './documents.ts';

/** A type as text, whose further lines are indented relative to its first one. */
interface TypeText {
  text: string;
  /** A union or intersection, which needs parentheses inside another type. */
  isCompound: boolean;
}

/** Keywords that this file prints, and keywords that restrict values of a type without a counterpart in TypeScript. */
const KEYWORDS = new Set([
  ...['$ref', 'additionalProperties', 'anyOf', 'const', 'enum', 'items', 'oneOf', 'properties', 'required', 'type'],
  ...['default', 'description', 'example', 'format'],
  ...['exclusiveMaximum', 'exclusiveMinimum', 'maxItems', 'maxLength', 'maximum', 'minItems', 'minLength', 'minimum'],
  ...['multipleOf', 'pattern', 'propertyNames'],
]);
const PRIMITIVES: Readonly<Record<string, string>> = {
  boolean: 'boolean',
  integer: 'number',
  null: 'null',
  number: 'number',
  string: 'string',
};

/**
 * Prints the schemas of a document as TypeScript, byte for byte as openapi-typescript does; the tests of the folder
 * `clients` compare both.
 *
 * @throws Error for a keyword that the documents of this product do not use.
 */
export function schemaTypes(schemas: Readonly<Record<string, Schema>>): string {
  const properties = Object.entries(schemas).map(([name, schema]) => propertyText(name, schema, true));
  const others = ['responses', 'parameters', 'requestBodies', 'headers', 'pathItems'].map((name) => `${name}: never;`);
  return [
    'export type paths = Record<string, never>;',
    'export type webhooks = Record<string, never>;',
    `export interface components ${block([`schemas: ${block(properties)};`, ...others])}`,
    'export type $defs = Record<string, never>;',
    'export type operations = Record<string, never>;',
    '',
  ].join('\n');
}

const single = (text: string): TypeText => ({ text, isCompound: false });

const block = (members: readonly string[]): string => {
  const lines = members.map((member) => `\n    ${member.replaceAll('\n', '\n    ')}`);
  return `{${lines.join('')}\n}`;
};

function checkKeywords(schema: Schema): void {
  const unknown = Object.keys(schema).find((keyword) => !KEYWORDS.has(keyword));
  if (unknown !== undefined) throw new Error(`the keyword ${unknown} of ${JSON.stringify(schema)} is not supported`);
}

function typeOf(schema: Schema): TypeText {
  checkKeywords(schema);
  if (typeof schema.$ref === 'string') return single(referenceText(schema.$ref));
  if (schema.const !== undefined && schema.const !== null) return single(JSON.stringify(schema.const));
  const types = [schema.type ?? []].flat() as string[];
  if (schema.enum !== undefined) return enumType(schema.enum as unknown[], types.includes('null'));
  const own = types.flatMap((type) => ownType(type, schema) ?? []);
  const anyOf = ((schema.anyOf ?? []) as Schema[]).map(typeOf);
  const oneOf = ((schema.oneOf ?? []) as Schema[]).map(typeOf);
  const base = [...(own.length > 0 ? [join('|', own)] : []), ...anyOf];
  if (oneOf.length > 0) return join('&', [...(base.length > 0 ? [join('|', base)] : []), join('|', oneOf)]);
  if (base.length > 0) return join('|', base);
  return single(types.length > 0 ? 'Record<string, never>' : 'unknown');
}

function enumType(values: readonly unknown[], isNullable: boolean): TypeText {
  const literals = values.map((value) => single(JSON.stringify(value)));
  return join('|', [...literals, ...(isNullable ? [single('null')] : [])]);
}

function referenceText(reference: string): string {
  const [, ...segments] = reference.slice(2).split('/');
  return `components${segments.map((segment) => `[${JSON.stringify(segment)}]`).join('')}`;
}

/** @returns undefined for an object of which nothing is known. */
function ownType(type: string, schema: Schema): TypeText | undefined {
  const primitive = PRIMITIVES[type];
  if (primitive !== undefined) return single(primitive);
  return type === 'array' ? arrayType(schema) : objectType(schema);
}

function arrayType({ items }: Schema): TypeText {
  return single(`${parenthesized(items === undefined ? single('unknown') : typeOf(items as Schema))}[]`);
}

function objectType({ properties = {}, required = [], additionalProperties = false }: Schema): TypeText | undefined {
  const names = required as string[];
  const members = Object.entries(properties as Record<string, Schema>).map(([name, property]) =>
    propertyText(name, property, names.includes(name)),
  );
  const parts = members.length > 0 ? [single(block(members))] : [];
  if (additionalProperties !== false) {
    const value = additionalProperties === true ? single('unknown') : typeOf(additionalProperties as Schema);
    parts.push(single(block([`[key: string]: ${value.text};`])));
  }
  return parts.length > 0 ? join('&', parts) : undefined;
}

function propertyText(name: string, schema: Schema, isRequired: boolean): string {
  const key = /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
  return `${commentOf(schema)}${key}${isRequired ? '' : '?'}: ${typeOf(schema).text};`;
}

const parenthesized = ({ text, isCompound }: TypeText): string => (isCompound ? `(${text})` : text);

/** A primitive type counts once. */
function join(operator: '|' | '&', types: readonly TypeText[]): TypeText {
  const primitives = Object.values(PRIMITIVES);
  const distinct = types.filter(
    ({ text }, at) => !primitives.includes(text) || types.findIndex((other) => other.text === text) === at,
  );
  const [first] = distinct;
  if (first !== undefined && distinct.length === 1) return first;
  return { text: distinct.map(parenthesized).join(` ${operator} `), isCompound: true };
}

function commentOf(schema: Schema): string {
  const { format, type, enum: values } = schema;
  const lines = format === undefined ? [] : [`Format: ${format}`];
  for (const tag of ['description', 'default', 'example']) {
    const value = schema[tag];
    if (value === undefined || (tag === 'description' && value === '')) continue;
    const text = typeof value === 'object' ? JSON.stringify(value, null, 2) : String(value);
    lines.push(`@${tag} ${text.trim().replaceAll('\n', '\n *     ')}`);
  }
  if ('const' in schema) lines.push('@constant');
  if (values !== undefined) lines.push(`@enum {${type === undefined ? 'unknown' : [type].flat().join('|')}}`);
  if (lines.length === 0) return '';
  const text = lines.join('\n * ').replaceAll('*/', '*\\/');
  if (!text.includes('\n')) return `/** ${text} */\n`;
  const trimmed = text.split('\n').map((line) => line.trimEnd());
  return `/**\n * ${trimmed.join('\n')}\n */\n`;
}
