/** The version of the product is stated in one way everywhere, so that the release command can raise it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { ROOT, repositoryFiles } from '../../scripts/checks/workspace.ts';
import { productVersion, statedVersions } from '../src/versions.ts';

const version = productVersion(ROOT);

test('every manifest, and every file that names an artefact, states the version of the product', () => {
  const stated = statedVersions(ROOT);
  expect(stated.filter((place) => place.version !== version)).toEqual([]);
  const paths = stated.map(({ path }) => path);
  const manifests = repositoryFiles().filter((path) => path.endsWith('package.json'));
  expect(paths).toEqual(expect.arrayContaining([...manifests, 'docs/agents.md', 'docs/contract-tests.md']));
});

test('programs read the version from their manifest', () => {
  const sources = repositoryFiles().filter((path) => /^(libs|services)\/(?!testing\/).*\/src\/.*\.tsx?$/.test(path));
  const literal = new RegExp(`['"\`]${version.replaceAll('.', '\\.')}['"\`]`);
  expect(sources.filter((path) => literal.test(readFileSync(join(ROOT, path), 'utf8')))).toEqual([]);
});
