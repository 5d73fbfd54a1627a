import type { Schema } from './openapi.ts';
import { code, description, type Inline, link } from './tree.ts';

/** Schemas of one service are on one page. */
export const SCHEMA_PAGE = 'schemas.md';

const nameOf = (reference: string): string => reference.slice(reference.lastIndexOf('/') + 1);

/** The type in a cell: names of schemas are links, unions are joined with "or". */
export function typeOf(schema: Schema): Inline {
  if (schema.$ref !== undefined) {
    const name = nameOf(schema.$ref);
    return link(`${SCHEMA_PAGE}#${name.toLowerCase()}`, name);
  }
  if (schema.const !== undefined) return code(JSON.stringify(schema.const));
  if (schema.enum) return joined(schema.enum.map((value) => code(JSON.stringify(value))));
  const options = schema.oneOf ?? schema.anyOf;
  if (options) return joined(distinct(options).map(typeOf));
  if (schema.items) return ['list of ', typeOf(schema.items)];
  if (typeof schema.additionalProperties === 'object') return ['map of ', typeOf(schema.additionalProperties)];
  return typeof schema.type === 'string' ? schema.type : (schema.type ?? ['any']).join(' or ');
}

/** Several objects of a union are one "object" in the cell; their fields are rows. */
function distinct(options: readonly Schema[]): Schema[] {
  const isPlain = (schema: Schema): boolean => schema.type === 'object' && schema.$ref === undefined;
  const first = options.find(isPlain);
  return options.filter((schema) => !isPlain(schema) || schema === first);
}

function joined(parts: readonly Inline[]): Inline {
  return parts.flatMap((part, index) => (index === 0 ? [part] : [' or ', part]));
}

/** The description with limits and default as sentences. */
export function meaningOf(schema: Schema): Inline {
  const { default: preset } = schema;
  const limits = [
    range('', schema.minimum, schema.maximum),
    range(' characters', schema.minLength, schema.maxLength),
    range(' items', schema.minItems, schema.maxItems),
  ].filter((limit) => limit !== '');
  const facts: Inline[] = limits.map((limit) => ` ${limit}.`);
  if (preset !== undefined && !/default/i.test(schema.description ?? '')) {
    facts.push([' Default: ', code(JSON.stringify(preset)), '.']);
  }
  return [description(schema.description), ...facts];
}

function range(unit: string, from: number | undefined, to: number | undefined): string {
  const isOpen = to === undefined || Math.abs(to) >= Number.MAX_SAFE_INTEGER;
  if (isOpen) return from === undefined || Math.abs(from) >= Number.MAX_SAFE_INTEGER ? '' : `At least ${from}${unit}`;
  return from === undefined ? `At most ${to}${unit}` : `${from} to ${to}${unit}`;
}

/** One row for each field: path, type, whether it is required, meaning. Fields of inner objects follow as `outer.inner`. */
export function schemaRows(schema: Schema, prefix = ''): Inline[][] {
  if (schema.$ref !== undefined) return [];
  if (schema.items) return schemaRows(schema.items, `${prefix}[]`);
  if (typeof schema.additionalProperties === 'object') return schemaRows(schema.additionalProperties, `${prefix}.*`);
  const options = schema.oneOf ?? schema.anyOf;
  if (options) return optionRows(options, prefix);
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const path = prefix === '' ? name : `${prefix}.${name}`;
    const isRequired = schema.required?.includes(name) ?? false;
    return [[code(path), typeOf(field), isRequired ? 'yes' : 'no', meaningOf(field)], ...schemaRows(field, path)];
  });
}

/** Rows of a union: of the only object among its members, or of each object with its number. */
function optionRows(options: readonly Schema[], prefix: string): Inline[][] {
  const objects = options.filter((option) => schemaRows(option).length > 0);
  if (objects.length < 2) return objects.flatMap((option) => schemaRows(option, prefix));
  return objects.flatMap((option, index) => [
    [`Option ${index + 1} of ${objects.length}`, '', '', description(option.description)],
    ...schemaRows(option, prefix),
  ]);
}
