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

const reworded = released.replace(/"summary": "[^"]+"/, '"summary": "Another text"');

test('accepts the released version when the documents are the same', () => {
  expect(() => check('1.2.3', released)).not.toThrow();
});

test('refuses a changed document while the version is the released one', () => {
  expect(() => check('1.2.3', reworded)).toThrow(/the API changed since 1\.2\.3: raise the version/);
});

test('accepts a changed document when the version was raised', () => {
  expect(() => check('1.2.4', reworded)).not.toThrow();
});
