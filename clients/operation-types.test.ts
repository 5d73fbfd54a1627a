import { expect, test } from '@jest/globals';
import openapiTS, { astToString } from 'openapi-typescript';
import { documentOf, SURFACES } from '../libs/client/scripts/documents.ts';
import { operationTypes, typedSchemas } from '../libs/client/scripts/operation-types.ts';

test.each(SURFACES)('the types of the %s client equal those that openapi-typescript prints', async (surface) => {
  const document = documentOf(surface);
  const { openapi, info } = document;
  const schemas = typedSchemas(document);
  const ast = await openapiTS({ openapi, info, paths: {}, components: { schemas } } as never, {
    defaultNonNullable: false,
  });
  expect(operationTypes(document)).toBe(astToString(ast));
});
