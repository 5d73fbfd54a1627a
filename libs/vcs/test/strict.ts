import { readFileSync } from 'node:fs';
import type { Exchange } from '@pipeline/testing/sandbox';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

interface Schema {
  [key: string]: unknown;
}
interface Parameter {
  name: string;
  in: 'path' | 'query';
  required?: boolean;
  schema: Schema;
}
interface Content {
  content?: { 'application/json'?: { schema: Schema } };
}
interface Operation {
  operationId: string;
  parameters?: Parameter[];
  requestBody?: Content & { required?: boolean };
  responses: Record<string, Content>;
}

/** The host's description, in two parts; scripts/slim-github.ts makes the second one. */
const DOCUMENTS = ['github-strict.json', 'github-strict-more.json'].map((name) => ({
  id: name,
  document: JSON.parse(readFileSync(new URL(`./${name}`, import.meta.url), 'utf8')),
}));
type Part = (typeof DOCUMENTS)[number];

/** Follows one `$ref` of the document; schemas keep theirs, ajv resolves those itself. */
function deref<T>({ document }: Part, value: T | { $ref: string }): T {
  const ref = (value as { $ref?: string }).$ref;
  if (!ref) return value as T;
  return ref
    .slice(2)
    .split('/')
    .reduce((at, key) => at[key.replaceAll('~1', '/')], document) as T;
}

/** The operation that a request is of, with the parameters of its path. */
function find(method: string, path: string): [Part, Operation, Record<string, string>] | null {
  const templates = DOCUMENTS.flatMap((part) =>
    Object.entries<Record<string, Operation>>(part.document.paths).map((entry) => [part, ...entry] as const),
  );
  for (const [part, template, methods] of templates) {
    const pattern = template.replace(/[.+]/g, '\\$&').replace(/\{(\w+)\}/g, '(?<$1>[^/]+)');
    const match = new RegExp(`^${pattern}$`).exec(path);
    const operation = methods[method.toLowerCase()];
    if (match && operation) return [part, operation, match.groups ?? {}];
  }
  return null;
}

/** Holds exchanges to the host's own description: path, query, request body and the answer's body. */
export function createStrictCheck(prefix = '') {
  const ajv = new Ajv2020({ strict: false, allErrors: true, coerceTypes: false, validateFormats: true });
  addFormats.default(ajv);
  // Formats of the document that say nothing about JSON values.
  for (const name of ['repo.nwo', 'timestamp', 'int64']) ajv.addFormat(name, true);
  for (const { id, document } of DOCUMENTS) ajv.addSchema({ $id: id, components: document.components });
  const compiled = new Map<string, ValidateFunction>();
  const seen = new Set<string>();

  const check = (part: Part, key: string, schema: Schema, value: unknown): string[] => {
    let validate = compiled.get(key);
    if (!validate) {
      const text = JSON.stringify(schema).replaceAll('"#/components', `"${part.id}#/components`);
      validate = ajv.compile(JSON.parse(text));
      compiled.set(key, validate);
    }
    if (validate(value)) return [];
    return (validate.errors ?? []).map((error) => `${key}${error.instancePath}: ${error.message}`);
  };

  type Given = { path: Record<string, string>; query: URLSearchParams };
  const parameters = (part: Part, operation: Operation, { path, query }: Given): string[] => {
    const declared = (operation.parameters ?? []).map((parameter) => deref<Parameter>(part, parameter));
    const known = declared.filter((parameter) => parameter.in === 'query').map((parameter) => parameter.name);
    const stray = [...query.keys()].filter((name) => !known.includes(name));
    const given = (p: Parameter) => (p.in === 'path' ? path[p.name] : (query.get(p.name) ?? undefined));
    return [
      ...stray.map((name) => `${operation.operationId}: unknown query parameter ${name}`),
      ...declared.flatMap((parameter) => {
        const text = given(parameter);
        if (text === undefined)
          return parameter.required ? [`${operation.operationId}: ${parameter.name} is missing`] : [];
        const { type } = deref<Schema>(part, parameter.schema);
        const value =
          type === 'integer' ? Number(text) : type === 'boolean' ? text === 'true' : decodeURIComponent(text);
        return check(part, `${operation.operationId} ${parameter.name}`, parameter.schema, value);
      }),
    ];
  };

  return {
    /** Operation ids that an exchange was compared with. */
    seen,
    violations(exchange: Exchange): string[] {
      const url = new URL(exchange.url);
      const found = find(exchange.method, url.pathname.slice(prefix.length));
      if (!found) return [];
      const [part, operation, path] = found;
      const { operationId } = operation;
      seen.add(operationId);
      // What the client sent wrongly on purpose is answered with an error and is no fault of its form.
      const request = operation.requestBody?.content?.['application/json']?.schema;
      const reply = operation.responses[String(exchange.status)];
      const response = reply && deref<Content>(part, reply).content?.['application/json']?.schema;
      const undeclared = !reply && ![401, 304, 403, 429].includes(exchange.status) && exchange.status < 500;
      return [
        ...parameters(part, operation, { path, query: url.searchParams }),
        ...(request && exchange.body !== undefined ? check(part, `${operationId} body`, request, exchange.body) : []),
        ...(undeclared ? [`${operationId}: status ${exchange.status} is not declared`] : []),
        ...(response ? check(part, `${operationId} ${exchange.status}`, response, exchange.answer) : []),
      ];
    },
  };
}

/** Ids of all operations that exchanges can be compared with. */
export const describedOperations = (): string[] =>
  DOCUMENTS.flatMap(({ document }) => Object.values<Record<string, Operation>>(document.paths))
    .flatMap((methods) => Object.values(methods))
    .map(({ operationId }) => operationId);
