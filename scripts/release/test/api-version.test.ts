import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { ROOT } from '../../checks/workspace.ts';
import { withApiVersion } from '../api-version.ts';

const released = readFileSync(join(ROOT, 'docs/reference/openapi-hosted.json'), 'utf8').replace(
  /"version": "[^"]+"/,
  '"version": "1.2.3"',
);
const source = (version: string) => `export const CONTRACT_VERSION = '${version}';\n`;
const after = (declared: string, current: string) => withApiVersion(source(declared), [{ released, current }]);

const breaking = released.replace('"/health": {', '"/healthy": {');
const added = JSON.stringify({
  ...JSON.parse(released),
  paths: { ...JSON.parse(released).paths, '/new': { get: { operationId: 'new', responses: {} } } },
});
const reworded = released.replace(/"summary": "[^"]+"/, '"summary": "Another text"');

test('stays when the documents are the same, whatever the version of the product', () => {
  expect(after('1.2.3', released)).toBe(source('1.2.3'));
});

test('gets a new minor version for an addition, and a new patch version for a text', () => {
  expect(after('1.2.3', added)).toBe(source('1.3.0'));
  expect(after('1.2.3', reworded)).toBe(source('1.2.4'));
});

test('stays when it was raised far enough already', () => {
  expect(after('1.3.0', added)).toBe(source('1.3.0'));
  expect(after('2.0.0', reworded)).toBe(source('2.0.0'));
  expect(after('1.2.4', added)).toBe(source('1.3.0'));
});

test('must get a new major version from a person before a breaking change is released', () => {
  expect(() => after('1.3.0', breaking)).toThrow(/operation-removed GET \/health/);
  expect(after('2.0.0', breaking)).toBe(source('2.0.0'));
});
