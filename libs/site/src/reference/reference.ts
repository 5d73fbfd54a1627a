import { slug } from 'github-slugger';
import type { RootContent } from 'mdast';
import type { SiteDocument } from '../pages/page.ts';
import type { Content, OpenApiDocument, Operation, Schema } from './openapi.ts';
import { meaningOf, SCHEMA_PAGE, schemaRows, typeOf } from './schema-rows.ts';
import { code, description, heading, type Inline, jsonBlock, link, paragraph, root, table } from './tree.ts';

interface Endpoint {
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

/**
 * The reference of one service as documents in docs/reference/`name`: an index, a page for each tag, and the schemas.
 * An operation has its summary as heading, and therefore as anchor.
 */
export function referenceDocuments(name: string, api: OpenApiDocument): SiteDocument[] {
  const folder = `docs/reference/${name}`;
  const endpoints = Object.entries(api.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
  const pages = api.tags.map((tag) => ({
    source: `${folder}/${pageOf(tag.name)}`,
    tree: root([
      heading(1, `${api.info.title}: ${tag.name}`),
      paragraph(description(tag.description)),
      ...endpoints.filter(({ operation }) => operation.tags[0] === tag.name).flatMap(endpointBlocks),
    ]),
  }));
  return [
    { source: `${folder}/README.md`, tree: indexOf(name, api, endpoints) },
    ...pages,
    { source: `${folder}/${SCHEMA_PAGE}`, tree: schemasOf(api) },
  ];
}

const pageOf = (tag: string): string => `${tag.toLowerCase().replaceAll(' ', '-')}.md`;

function indexOf(name: string, api: OpenApiDocument, endpoints: readonly Endpoint[]) {
  const { securitySchemes } = api.components;
  return root([
    heading(1, api.info.title),
    paragraph(description(api.info.description)),
    paragraph('The same as a document of OpenAPI 3.1: ', link(`../openapi-${name}.json`, `openapi-${name}.json`), '. '),
    paragraph('Shared types: ', link(SCHEMA_PAGE, 'schemas'), '.'),
    heading(2, 'Authentication'),
    table(
      ['scheme', 'type', 'meaning'],
      Object.entries(securitySchemes).map(([id, scheme]) => [code(id), scheme.type, description(scheme.description)]),
    ),
    ...api.tags.flatMap((tag) => [
      heading(2, tag.name),
      table(
        ['operation', 'request'],
        endpoints
          .filter(({ operation }) => operation.tags[0] === tag.name)
          .map(({ method, path, operation: { summary } }) => [
            link(`${pageOf(tag.name)}#${slug(summary)}`, summary),
            code(`${method} ${path}`),
          ]),
      ),
    ]),
  ]);
}

function schemasOf(api: OpenApiDocument) {
  const blocks = Object.entries(api.components.schemas).flatMap(([name, schema]) => [
    heading(2, name),
    paragraph(meaningOf(schema)),
    fields(schema) ?? paragraph('Type: ', typeOf(schema), '.'),
  ]);
  return root([heading(1, `${api.info.title}: schemas`), ...blocks]);
}

const fields = (schema: Schema): RootContent | null =>
  table(['field', 'type', 'required', 'meaning'], schemaRows(schema));

function endpointBlocks({ method, path, operation }: Endpoint): (RootContent | null)[] {
  const { summary, security = [], parameters = [], requestBody, responses } = operation;
  const schemes = security.flatMap((choice) => Object.keys(choice));
  return [
    heading(2, summary),
    paragraph(code(`${method} ${path}`)),
    paragraph(description(operation.description)),
    paragraph('Authentication: ', schemes.length === 0 ? 'none' : schemes.map(spaced), '.'),
    table(
      ['parameter', 'in', 'type', 'required', 'meaning'],
      parameters.map((one) => [
        code(one.name),
        one.in,
        typeOf(one.schema),
        one.required ? 'yes' : 'no',
        meaningOf({ ...one.schema, description: one.description ?? one.schema.description ?? '' }),
      ]),
    ),
    ...(requestBody ? bodyBlocks('Request body', requestBody.content) : []),
    ...Object.entries(responses).flatMap(([status, { content = {} }]) =>
      status.startsWith('2') ? bodyBlocks(`Response ${status}`, content) : [],
    ),
    table(
      ['status', 'meaning'],
      Object.entries(responses).map(([status, response]) => [code(status), description(response.description)]),
    ),
  ];
}

const spaced = (scheme: string, index: number): Inline => (index === 0 ? code(scheme) : [' or ', code(scheme)]);

/** Type, fields and example of a body, once for each media type. */
function bodyBlocks(title: string, content: Content): (RootContent | null)[] {
  return Object.entries(content).flatMap(([mediaType, { schema = {}, example, examples = {} }]) => {
    const shown = example ?? Object.values(examples)[0]?.value;
    const isText = typeof shown === 'string';
    return [
      paragraph(`${title} (`, code(mediaType), '): ', typeOf(schema)),
      fields(schema),
      shown === undefined || isText ? null : jsonBlock(shown),
    ];
  });
}
