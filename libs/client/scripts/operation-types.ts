import { type Document, type OperationObject, operationsOf, type Schema } from './documents.ts';
import { schemaTypes } from './schema-types.ts';

/**
 * The types of a surface: `components['schemas']`, and in it `Operations` with input and result of each operation. Error
 * responses are left out, because the client throws them.
 */
export function operationTypes(document: Document): string {
  return schemaTypes(typedSchemas(document));
}

/** The schemas of a document and `Operations`. */
export function typedSchemas(document: Document): Record<string, Schema> {
  const operations = operationsOf(document);
  const Operations = {
    type: 'object',
    required: operations.map(({ operation }) => operation.operationId),
    properties: Object.fromEntries(
      operations.map(({ line, operation }) => [operation.operationId, schemaOf(operation, line)]),
    ),
  };
  return { ...document.components.schemas, Operations };
}

function schemaOf(operation: OperationObject, line: string): Schema {
  const { summary, requestBody, responses } = operation;
  const body = requestBody?.content?.['application/json']?.schema;
  const [, answer] = Object.entries(responses).find(([status]) => status.startsWith('2')) ?? [];
  const inputs = [
    ...inputOf(operation, 'path', 'params'),
    ...inputOf(operation, 'query', 'query'),
    ...(body ? [{ name: 'body', schema: body, required: requestBody?.required === true }] : []),
  ];
  return {
    type: 'object',
    description: `${summary}. ${line}`,
    required: [...inputs.filter(({ required }) => required).map(({ name }) => name), 'result'],
    properties: {
      ...Object.fromEntries(inputs.map(({ name, schema }) => [name, schema])),
      result: answer?.content?.['application/json']?.schema ?? { type: answer?.content ? 'string' : 'null' },
    },
  };
}

function inputOf({ parameters = [] }: OperationObject, where: 'path' | 'query', name: string) {
  const own = parameters.filter((parameter) => parameter.in === where);
  if (own.length === 0) return [];
  const required = own.filter((parameter) => parameter.required).map((parameter) => parameter.name);
  const properties = Object.fromEntries(
    own.map(({ name: key, schema, description }) => [
      key,
      // Numbers are welcome in a path.
      where === 'path' ? { type: ['string', 'number'], description } : { ...schema, description },
    ]),
  );
  return [{ name, schema: { type: 'object', required, properties }, required: required.length > 0 }];
}
