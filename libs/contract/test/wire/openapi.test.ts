import { describe, expect, test } from '@jest/globals';
import { checkBody, errorsOf, hostedSurface, monitorSurface, openApiDocument, type Surface } from '../../src/index.ts';

interface Operation {
  operationId: string;
  security: Record<string, string[]>[];
  parameters?: { name: string; example?: unknown }[];
  responses: Record<string, { content?: Record<string, { schema?: { $ref?: string } }> }>;
}

const operationsOf = (surface: Surface): Operation[] =>
  Object.values(openApiDocument(surface).paths ?? {}).flatMap((path) =>
    Object.values(path as Record<string, Operation>),
  );

describe.each([
  ['hosted', hostedSurface as Surface],
  ['monitor', monitorSurface as Surface],
])('the document of %s', (_name, surface) => {
  const operations = operationsOf(surface);
  const byId = new Map(operations.map((operation) => [operation.operationId, operation]));
  const documented = surface.routes.filter((route) => !route.undocumented);

  test('the document is OpenAPI 3.1 and has one operation for each route', () => {
    expect(openApiDocument(surface).openapi).toMatch(/^3\.1\./);
    expect([...byId.keys()].sort()).toEqual(documented.map((route) => route.id).sort());
  });

  test('declares every error of a route as ApiError', () => {
    for (const route of documented) {
      const { responses } = byId.get(route.id) as Operation;
      for (const { status } of errorsOf(surface, route)) {
        if (status in route.replies) continue;
        const schema = responses[status]?.content?.['application/json']?.schema;
        expect([route.id, status, schema?.$ref]).toEqual([route.id, status, '#/components/schemas/ApiError']);
      }
    }
  });

  test('names for each operation the credentials that it accepts, public ones with an empty list', () => {
    for (const route of documented) {
      const { security } = byId.get(route.id) as Operation;
      expect([route.id, security.length === 0]).toEqual([route.id, route.auth === 'none']);
    }
  });

  test('gives every parameter an example', () => {
    const without = operations.flatMap(({ operationId, parameters = [] }) =>
      parameters.filter((one) => one.example === undefined).map((one) => `${operationId} ${one.name}`),
    );
    expect(without).toEqual([]);
  });

  test('shows examples of answers that are as declared', () => {
    const problems = surface.routes.flatMap((route) =>
      Object.values(route.replies).flatMap((reply) =>
        reply.example === undefined ? [] : checkBody(reply, reply.example).map((problem) => `${route.id}: ${problem}`),
      ),
    );
    expect(problems).toEqual([]);
  });

  test('each route id, and each path of a method, occurs once', () => {
    const ids = surface.routes.map((route) => route.id);
    const paths = surface.routes.map((route) => `${route.method} ${route.path}`);
    expect([new Set(ids).size, new Set(paths).size]).toEqual([ids.length, paths.length]);
  });
});
