import { z } from 'zod';
import {
  createDocument,
  type oas31,
  type ZodOpenApiObject,
  type ZodOpenApiOperationObject,
  type ZodOpenApiOverrideContext,
  type ZodOpenApiPathsObject,
} from 'zod-openapi';
import { type ErrorReply, errorsOf } from './declared-errors.ts';
import { ApiError } from './envelopes.ts';
import { type AnyRoute, type AuthKind, isRawBody, type Reply } from './route.ts';
import type { Surface } from './surface.ts';

type OpenApiDocument = oas31.OpenAPIObject;

/** Security requirements of each authentication kind; several entries are alternatives. */
const SECURITY: Record<AuthKind, Record<string, string[]>[]> = {
  none: [],
  operator: [{ session: [] }, { basic: [] }],
  worker: [{ workerToken: [] }],
  connection: [{ connection: ['pipeline:read'] }],
  // Routes of the pages are not documented.
  session: [],
  signature: [{ signature: [] }],
};

const SCHEMES: Record<string, oas31.SecuritySchemeObject> = {
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: 'SVC_SESSION',
    description: 'Session cookie set by POST /api/auth/login. Valid for 12 hours.',
  },
  basic: {
    type: 'http',
    scheme: 'basic',
    description: 'Basic authentication for programs. Send it with every request; the server never sends a challenge.',
  },
  workerToken: { type: 'http', scheme: 'bearer', description: 'Worker token with prefix `wrk_at_`.' },
  connection: {
    type: 'oauth2',
    description:
      'Access token of a connection with prefix `mcp_at_`, sent as `Authorization: Bearer`. Public clients with PKCE.',
    flows: {
      authorizationCode: {
        authorizationUrl: '/oauth/authorize',
        tokenUrl: '/oauth/token',
        refreshUrl: '/oauth/token',
        scopes: { 'pipeline:read': 'Read access to everything the user may read.' },
      },
    },
  },
  signature: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Hub-Signature-256',
    description: 'HMAC-SHA-256 of the raw body, computed with the webhook secret.',
  },
};

/** Generates the OpenAPI 3.1 document of a surface from its declarations. */
export function openApiDocument(surface: Surface): OpenApiDocument {
  const documented = surface.routes.filter((route) => !route.undocumented);
  const paths: ZodOpenApiPathsObject = {};
  for (const route of documented) {
    const path = route.path.replace('*}', '}');
    paths[path] = { ...paths[path], [route.method]: operation(surface, route) };
  }
  const used = new Set(documented.flatMap((route) => SECURITY[route.auth].flatMap((one) => Object.keys(one))));
  const tags = new Set(documented.flatMap((route) => [...route.tags]));
  const source: ZodOpenApiObject = {
    openapi: '3.1.1',
    info: {
      title: surface.title,
      version: surface.version,
      description: surface.description,
      contact: { name: 'The pipeline maintainers' },
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    tags: surface.tags.filter((tag) => tags.has(tag.name)).map((tag) => ({ ...tag })),
    paths,
    components: { securitySchemes: Object.fromEntries(Object.entries(SCHEMES).filter(([name]) => used.has(name))) },
  };
  return withParameterExamples(createDocument(source, { override: plainSchema }) as OpenApiDocument);
}

function operation(surface: Surface, route: AnyRoute): ZodOpenApiOperationObject {
  return {
    operationId: route.id,
    summary: route.summary,
    description: route.description,
    tags: [...route.tags],
    security: SECURITY[route.auth],
    requestParams: {
      ...(route.params && { path: route.params }),
      ...(route.query && { query: route.query }),
      ...(route.headers && { header: route.headers }),
    },
    ...requestBody(route),
    responses: {
      ...Object.fromEntries(Object.entries(route.replies).map(([status, reply]) => [status, success(reply)])),
      ...failures(errorsOf(surface, route), route),
    },
  };
}

function requestBody({ body, bodyOptional }: AnyRoute): Pick<ZodOpenApiOperationObject, 'requestBody'> {
  if (!body) return {};
  if (!isRawBody(body)) {
    return { requestBody: { required: !bodyOptional, content: { 'application/json': { schema: body } } } };
  }
  const { description, type, schema = { type: 'object' as const } } = body;
  return { requestBody: { required: true, description, content: { [type]: { schema } } } };
}

function success(reply: Reply) {
  const { description, headers, body, type, example } = reply;
  const fields = Object.entries(headers ?? {}).map(([name, header]) => [
    name,
    header.schema.meta({ description: header.description }),
  ]);
  return {
    description,
    ...(headers && { headers: z.object(Object.fromEntries(fields)) }),
    ...(body && {
      content: { [type ?? 'application/json']: { schema: body, ...(example !== undefined && { example }) } },
    }),
    ...streamedContent(reply),
  };
}

function streamedContent({ streamed, content }: Reply) {
  if (!streamed || !content) return {};
  return { content: Object.fromEntries(Object.entries(content).map(([type, schema]) => [type, { schema }])) };
}

/** Returns one error response per status, with an example for each of its codes. */
function failures(errors: ErrorReply[], route: AnyRoute) {
  const statuses = [...new Set(errors.map((error) => error.status))]
    .filter((status) => !(status in route.replies))
    .sort();
  return Object.fromEntries(
    statuses.map((status) => {
      const here = errors.filter((error) => error.status === status);
      const examples = here.map(({ code, description }) => [code, { value: { error: description, code, status } }]);
      return [
        status,
        {
          description: here.map(({ code, description }) => `${code}: ${description}.`).join(' '),
          content: { 'application/json': { schema: ApiError, examples: Object.fromEntries(examples) } },
        },
      ];
    }),
  );
}

const WELL_KNOWN_FORMATS = ['uuid', 'date-time'];

/** Removes redundant constraints: safe-integer bounds, and patterns of standard formats. */
function plainSchema({ jsonSchema }: ZodOpenApiOverrideContext) {
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
  if (WELL_KNOWN_FORMATS.includes(jsonSchema.format ?? '')) delete jsonSchema.pattern;
}

/** Moves examples from parameter schemas to the parameters, where API test tools expect them. */
function withParameterExamples(document: OpenApiDocument): OpenApiDocument {
  const operations = Object.values(document.paths ?? {}).flatMap((path) =>
    Object.values(path as Record<string, oas31.OperationObject>),
  );
  for (const parameter of operations.flatMap(({ parameters = [] }) => parameters)) {
    if ('schema' in parameter && parameter.schema && 'example' in parameter.schema) moveExample(parameter);
  }
  return document;
}

function moveExample(parameter: oas31.ParameterObject): void {
  const schema = parameter.schema as { example?: unknown; type?: string };
  // Sent as text, documented as an integer.
  parameter.example = schema.type === 'integer' ? Number(schema.example) : schema.example;
  delete schema.example;
}
