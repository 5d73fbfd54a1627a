import { readFileSync } from 'node:fs';
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

export interface Exchange {
  method: string;
  url: string;
  body: unknown;
  status: number;
  answer: unknown;
}

const document = JSON.parse(readFileSync(new URL('./github-strict.json', import.meta.url), 'utf8'));

/** Follows one `$ref` of the document; schemas keep theirs, ajv resolves those itself. */
function deref<T>(value: T | { $ref: string }): T {
  const ref = (value as { $ref?: string }).$ref;
  if (!ref) return value as T;
  return ref
    .slice(2)
    .split('/')
    .reduce((at, key) => at[key.replaceAll('~1', '/')], document) as T;
}

/** Holds exchanges to the host's own description: path, query, request body and the answer's body. */
export function createStrictCheck(prefix = '') {
  const ajv = new Ajv2020({ strict: false, allErrors: true, coerceTypes: false, validateFormats: true });
  addFormats.default(ajv);
  // Formats of the document that say nothing about JSON values.
  for (const name of ['repo.nwo', 'timestamp', 'int64']) ajv.addFormat(name, true);
  ajv.addSchema({ $id: 'doc', components: document.components });
  const compiled = new Map<string, ValidateFunction>();
  const seen = new Set<string>();

  const check = (key: string, schema: Schema, value: unknown): string[] => {
    let validate = compiled.get(key);
    if (!validate) {
      validate = ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/components', '"doc#/components')));
      compiled.set(key, validate);
    }
    if (validate(value)) return [];
    return (validate.errors ?? []).map((error) => `${key}${error.instancePath}: ${error.message}`);
  };

  const find = (method: string, path: string): [Operation, Record<string, string>] | null => {
    for (const [template, methods] of Object.entries<Record<string, Operation>>(document.paths)) {
      const pattern = template.replace(/[.+]/g, '\\$&').replace(/\{(\w+)\}/g, '(?<$1>[^/]+)');
      const match = new RegExp(`^${pattern}$`).exec(path);
      const operation = methods[method.toLowerCase()];
      if (match && operation) return [operation, match.groups ?? {}];
    }
    return null;
  };

  const parameters = (operation: Operation, path: Record<string, string>, query: URLSearchParams): string[] => {
    const declared = (operation.parameters ?? []).map((parameter) => deref<Parameter>(parameter));
    const known = declared.filter((parameter) => parameter.in === 'query').map((parameter) => parameter.name);
    const stray = [...query.keys()].filter((name) => !known.includes(name));
    const given = (p: Parameter) => (p.in === 'path' ? path[p.name] : (query.get(p.name) ?? undefined));
    return [
      ...stray.map((name) => `${operation.operationId}: unknown query parameter ${name}`),
      ...declared.flatMap((parameter) => {
        const text = given(parameter);
        if (text === undefined)
          return parameter.required ? [`${operation.operationId}: ${parameter.name} is missing`] : [];
        const { type } = deref<Schema>(parameter.schema);
        const value =
          type === 'integer' ? Number(text) : type === 'boolean' ? text === 'true' : decodeURIComponent(text);
        return check(`${operation.operationId} ${parameter.name}`, parameter.schema, value);
      }),
    ];
  };

  return {
    /** Operation ids that an exchange was held against. */
    seen,
    violations(exchange: Exchange): string[] {
      const url = new URL(exchange.url);
      const found = find(exchange.method, url.pathname.slice(prefix.length));
      if (!found) return [];
      const [operation, path] = found;
      const { operationId } = operation;
      seen.add(operationId);
      // What the client sent wrongly on purpose is answered with an error and is no fault of its form.
      const request = operation.requestBody?.content?.['application/json']?.schema;
      const reply = operation.responses[String(exchange.status)];
      const response = reply && deref<Content>(reply).content?.['application/json']?.schema;
      const undeclared = !reply && ![401, 304, 403, 429].includes(exchange.status) && exchange.status < 500;
      return [
        ...parameters(operation, path, url.searchParams),
        ...(request && exchange.body !== undefined ? check(`${operationId} body`, request, exchange.body) : []),
        ...(undeclared ? [`${operationId}: status ${exchange.status} is not declared`] : []),
        ...(response ? check(`${operationId} ${exchange.status}`, response, exchange.answer) : []),
      ];
    },
  };
}

/** A fetch that writes every exchange down. */
export function recordingFetch(exchanges: Exchange[], send: typeof fetch = fetch): typeof fetch {
  return async (input, init) => {
    const response = await send(input, init);
    const text = await response.clone().text();
    exchanges.push({
      method: init?.method ?? 'GET',
      url: String(input),
      body: typeof init?.body === 'string' ? JSON.parse(init.body) : undefined,
      status: response.status,
      answer: text === '' ? undefined : JSON.parse(text),
    });
    return response;
  };
}
