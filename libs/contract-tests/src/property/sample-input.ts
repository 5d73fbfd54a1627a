/** The part of JSON Schema that zod writes for inputs. */
interface Schema {
  type?: string;
  const?: unknown;
  enum?: unknown[];
  example?: unknown;
  examples?: unknown[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  properties?: Record<string, Schema>;
  additionalProperties?: Schema | boolean;
  items?: Schema;
  minimum?: number;
  minLength?: number;
  minItems?: number;
  format?: string;
  $ref?: string;
  $defs?: Record<string, Schema>;
}

const TEXTS: Readonly<Record<string, string>> = {
  uuid: '0198c5a4-7c1e-7000-8000-000000000001',
  'date-time': '2026-01-01T00:00:00.000Z',
  date: '2026-01-01',
  uri: 'https://example.org/',
};

/** A value that a JSON schema takes, with all optional fields, as far as examples, enums and formats say. */
export function sampleOf(schema: object, root: object = schema): unknown {
  const { example, examples, anyOf, oneOf, allOf, $ref, ...own } = schema as Schema;
  if ($ref !== undefined) return sampleOf((root as Schema).$defs?.[$ref.split('/').at(-1) ?? ''] ?? {}, root);
  if (example !== undefined) return example;
  if (examples?.[0] !== undefined) return examples[0];
  const [choice] = anyOf ?? oneOf ?? allOf ?? [];
  return choice ? sampleOf(choice, root) : plain(own, root);
}

function plain(schema: Schema, root: object): unknown {
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return schema.enum[0];
  switch (schema.type) {
    case 'string':
      return TEXTS[schema.format ?? ''] ?? 'x'.repeat(Math.max(1, schema.minLength ?? 1));
    case 'integer':
    case 'number':
      return Math.max(1, schema.minimum ?? 1);
    case 'boolean':
      return true;
    case 'array':
      return schema.items ? [sampleOf(schema.items, root)] : [];
    case 'object':
      return object(schema, root);
    case 'null':
      return null;
    default:
      return 'x';
  }
}

function object({ properties = {}, additionalProperties }: Schema, root: object): unknown {
  const fields = Object.entries(properties).map(([name, inner]) => [name, sampleOf(inner, root)]);
  if (typeof additionalProperties === 'object') fields.push(['key', sampleOf(additionalProperties, root)]);
  return Object.fromEntries(fields);
}

/** Every copy of a JSON value in which one text was changed, with the path of that text. */
export function* withEachText(
  value: unknown,
  change: (text: string) => string,
  path = '',
): Generator<[string, unknown]> {
  if (typeof value === 'string') yield [path, change(value)];
  if (typeof value !== 'object' || value === null) return;
  for (const [key, inner] of Object.entries(value)) {
    for (const [where, changed] of withEachText(inner, change, `${path}.${key}`)) {
      yield [where, Array.isArray(value) ? value.with(Number(key), changed) : { ...value, [key]: changed }];
    }
  }
}
