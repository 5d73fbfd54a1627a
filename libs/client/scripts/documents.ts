import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const FOLDER = join(import.meta.dirname, '../../../docs/reference');

export type Schema = Record<string, unknown>;

interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required?: boolean;
  description?: string;
  schema: Schema;
}

interface Content {
  content?: Record<string, { schema: Schema }>;
}

export interface OperationObject {
  operationId: string;
  summary: string;
  parameters?: Parameter[];
  requestBody?: Content & { required?: boolean };
  responses: Record<string, Content>;
}

export interface Document {
  openapi: string;
  info: Schema;
  paths: Record<string, Record<string, OperationObject>>;
  components: { schemas: Record<string, Schema> };
}

export const SURFACES = ['hosted', 'monitor'] as const;

/** The committed OpenAPI document of a surface. */
export const documentOf = (surface: (typeof SURFACES)[number]): Document =>
  JSON.parse(readFileSync(join(FOLDER, `openapi-${surface}.json`), 'utf8')) as Document;

/** Operations with their method and path; the event stream has a method of its own. */
export const operationsOf = ({ paths }: Document): { line: string; operation: OperationObject }[] =>
  Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([, operation]) => operation.operationId !== undefined && operation.operationId !== 'streamEvents')
      .map(([method, operation]) => ({ line: `${method.toUpperCase()} ${path}`, operation })),
  );
