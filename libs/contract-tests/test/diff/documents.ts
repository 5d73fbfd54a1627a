import type { Change } from '../../src/diff/change.ts';
import { diffDocuments } from '../../src/diff/diff-documents.ts';
import { OpenApiDocument } from '../../src/diff/openapi-document.ts';

export type Node = Record<string, unknown>;

/** A document with one operation. */
export const document = (operation: Node = {}, root: Node = {}): Node => ({
  openapi: '3.1.1',
  paths: { '/a': { get: { operationId: 'a', responses: {}, ...operation } } },
  ...root,
});

export const sent = (schema: unknown, root: Node = {}): Node =>
  document({ requestBody: { content: { 'application/json': { schema } } } }, root);

export const received = (schema: unknown, root: Node = {}): Node =>
  document({ responses: { 200: { content: { 'application/json': { schema } } } } }, root);

export const changes = (before: Node, after: Node): Change[] =>
  diffDocuments(OpenApiDocument.parse(JSON.stringify(before)), OpenApiDocument.parse(JSON.stringify(after)));

export const rules = (before: Node, after: Node): string[] => changes(before, after).map(({ rule }) => rule);
