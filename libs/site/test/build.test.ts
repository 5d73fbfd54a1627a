/** The build on small repositories: what fails it, and what it makes of a document. */
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { type BuiltSite, buildSite } from '../src/build.ts';
import { NAVIGATION } from '../src/navigation.ts';
import { schemaRows, typeOf } from '../src/reference/schema-rows.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'repository-'));
});
afterEach(() => rmSync(root, { recursive: true }));

/** Builds a repository of these documents and of an empty one for each other page of the navigation. */
async function build(texts: Readonly<Record<string, string>>): Promise<BuiltSite> {
  const required = NAVIGATION.flatMap(({ pages }) => pages.map(([source]) => source));
  const documents = new Map(required.map((source) => [source, '# Page']));
  for (const [source, text] of Object.entries(texts)) documents.set(source, text);
  for (const [source, text] of documents) {
    mkdirSync(dirname(join(root, source)), { recursive: true });
    writeFileSync(join(root, source), text);
  }
  return buildSite({ root, documents: [...documents.keys()], apis: [] }, join(root, 'dist'));
}

test('writes nothing when a link leads to no file', async () => {
  const { problems } = await build({ 'README.md': '[a](docs/gone.md) ![b](gone.png) [c](https://example.org)' });
  expect(problems).toEqual(['README.md: docs/gone.md does not exist', 'README.md: gone.png does not exist']);
  expect(existsSync(join(root, 'dist'))).toBe(false);
});

test('fails when an anchor does not exist, in the same page or another', async () => {
  const { problems } = await build({
    'README.md': '# Top\n\n[a](#top) [b](#gone) [c](docs/errors.md#page) [d](docs/errors.md#gone)',
  });
  expect(problems).toEqual([
    'README.md: #gone names an anchor that does not exist',
    'README.md: docs/errors.md#gone names an anchor that does not exist',
  ]);
});

test('fails when raw markup names a picture that does not exist', async () => {
  const { problems } = await build({ 'README.md': '<picture><img alt="" src="docs/gone.png"></picture>' });
  expect(problems).toEqual(['README.md: docs/gone.png does not exist']);
});

test('refuses a link that leaves the repository', async () => {
  const { problems } = await build({ 'README.md': '[a](../../etc/passwd)' });
  expect(problems).toEqual(['README.md: ../../etc/passwd does not exist']);
});

test('fails when a page of the navigation does not exist', async () => {
  const { problems } = await buildSite({ root, documents: [], apis: [] }, join(root, 'dist'));
  expect(problems).toContain('navigation: docs/install.md does not exist');
  expect(problems).not.toContain('navigation: docs/scale.md does not exist');
});

test('renders the linked file as a page when it is no Markdown', async () => {
  mkdirSync(join(root, 'deploy'));
  writeFileSync(join(root, 'deploy/Dockerfile'), 'FROM <base>\n');
  const { problems } = await build({ 'README.md': '[a](deploy/Dockerfile) [folder](deploy)' });
  expect(problems).toEqual([]);
  expect(existsSync(join(root, 'dist/source/deploy/Dockerfile.html'))).toBe(true);
});

test('lists the fields of inner objects when a schema nests them', () => {
  const inner = { type: 'object', properties: { b: { type: 'integer', minimum: 1, maximum: 9 } }, required: ['b'] };
  const rows = schemaRows({ type: 'object', properties: { a: { type: 'array', items: inner } } });
  const code = (value: string) => ({ type: 'inlineCode', value });
  expect(rows.map(([path, type, required]) => [path, type, required])).toEqual([
    [code('a'), ['list of ', 'object'], 'no'],
    [code('a[].b'), 'integer', 'yes'],
  ]);
  expect(typeOf({ anyOf: [{ type: 'string' }, { type: 'null' }] })).toEqual(['string', ' or ', 'null']);
});
