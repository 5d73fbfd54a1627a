/** The parts of an OpenAPI 3.1 document that the page shows. */
export interface Schema {
  $ref?: string;
  type?: string | readonly string[];
  description?: string;
  enum?: readonly unknown[];
  const?: unknown;
  format?: string;
  default?: unknown;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  properties?: Readonly<Record<string, Schema>>;
  required?: readonly string[];
  items?: Schema;
  anyOf?: readonly Schema[];
  oneOf?: readonly Schema[];
  allOf?: readonly Schema[];
  additionalProperties?: boolean | Schema;
}

export interface Parameter {
  in: string;
  name: string;
  required?: boolean;
  description?: string;
  example?: unknown;
  schema?: Schema;
}

interface Content {
  content?: Readonly<Record<string, { schema?: Schema }>>;
}

interface DeclaredOperation {
  operationId: string;
  summary?: string;
  description?: string;
  tags?: readonly string[];
  parameters?: readonly Parameter[];
  requestBody?: Content & { required?: boolean };
  responses?: Readonly<Record<string, Content & { description?: string }>>;
}

export interface OpenApi {
  info: { title: string; version: string; description?: string };
  tags?: readonly { name: string; description?: string }[];
  paths: Readonly<Record<string, Readonly<Record<string, DeclaredOperation>>>>;
  components?: { schemas?: Readonly<Record<string, Schema>> };
}

export interface Operation extends DeclaredOperation {
  method: string;
  path: string;
}

/** Returns the operations in the order of the document. */
export const operationsOf = (document: OpenApi): Operation[] =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ ...operation, method, path })),
  );

/** Returns whether every word of the text is part of path, method, id, summary or tag. */
export function matches({ method, path, operationId, summary = '', tags = [] }: Operation, text: string): boolean {
  const all = `${method} ${path} ${operationId} ${summary} ${tags.join(' ')}`.toLowerCase();
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => all.includes(word));
}

export const jsonSchema = (content: Content | undefined): Schema | undefined =>
  Object.values(content?.content ?? {}).find(({ schema }) => schema)?.schema;

const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** Returns a curl line for an operation; parameters have their examples. */
export function curlLine({ method, path, parameters = [], requestBody }: Operation, origin: string): string {
  const filled = path.replace(/\{(\w+)\}/g, (whole, name: string) => {
    const example = parameters.find((each) => each.in === 'path' && each.name === name)?.example;
    return example === undefined ? whole : encodeURIComponent(String(example));
  });
  const query = parameters
    .filter((each) => each.in === 'query' && each.required)
    .map(({ name, example }) => `${name}=${encodeURIComponent(String(example ?? ''))}`);
  const url = `${origin}${filled}${query.length > 0 ? `?${query.join('&')}` : ''}`;
  const verb = method === 'get' ? '' : ` -X ${method.toUpperCase()}`;
  const body = requestBody ? " -H 'content-type: application/json' -d '{}'" : '';
  return `curl -u operator${verb} ${quoted(url)}${body}`;
}
