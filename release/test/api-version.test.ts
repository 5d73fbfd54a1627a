import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { ROOT } from '../../scripts/checks/workspace.ts';
import { requireApiVersion } from '../src/api-version.ts';

const released = readFileSync(join(ROOT, 'docs/reference/openapi-hosted.json'), 'utf8').replace(
  /"version": "[^"]+"/,
  '"version": "1.2.3"',
);
const check = (declared: string, current: string) =>
  requireApiVersion(`export const CONTRACT_VERSION = '${declared}';\n`, [{ released, current }]);

const changed = (change: (document: Document) => void): string => {
  const document = JSON.parse(released) as Document;
  change(document);
  return JSON.stringify(document);
};
interface Document {
  paths: Record<string, { get: { summary?: string } }>;
}
const reworded = changed(({ paths }) => Object.assign(paths['/health']?.get ?? {}, { summary: 'Another text' }));
const added = changed(({ paths }) => Object.assign(paths, { '/new': { get: { responses: {} } } }));
const breaking = changed(({ paths }) => delete paths['/health']);

test('accepts the released version when the documents are the same', () => {
  expect(() => check('1.2.3', released)).not.toThrow();
});

test.each([
  ['patch', '1.2.4', 'a changed text', reworded],
  ['minor', '1.3.0', 'an addition', added],
  ['major', '2.0.0', 'a change that breaks clients', breaking],
])('requires a new %s version, such as %s, for %s', (part, version, _, current) => {
  expect(() => check('1.2.3', current)).toThrow(`since 1.2.3 require a new ${part} version`);
  expect(() => check(version, current)).not.toThrow();
});

test('names the change that breaks clients, and refuses a new minor version for it', () => {
  expect(() => check('1.3.0', breaking)).toThrow('remove paths//health/get');
});
