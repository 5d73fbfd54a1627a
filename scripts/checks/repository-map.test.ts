/** The table of capabilities in CONTRIBUTING.md lists the folders that exist, and no others. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { ROOT, repositoryFiles } from './workspace.ts';

const LAYERS = ['domain', 'contract', 'store', 'engine'];
/** Folders that belong to one layer and are no capability. */
const OF_ONE_LAYER = ['availability', 'context', 'driver', 'records', 'schema', 'text', 'wire'];

test('lists every capability with the layers that have its folder', () => {
  const folders = repositoryFiles().flatMap((path) => {
    const [, layer, capability] = /^libs\/(\w+)\/src\/([\w-]+)\//.exec(path) ?? [];
    const isListed = layer && capability && LAYERS.includes(layer) && !OF_ONE_LAYER.includes(capability);
    return isListed ? [`${capability}: ${layer}`] : [];
  });
  const rows = readFileSync(join(ROOT, 'CONTRIBUTING.md'), 'utf8').matchAll(
    /^\| `([\w-]+)` \| [^|]+ \| ([\w, ]+) \|$/gm,
  );
  const listed = [...rows].flatMap(([, capability, layers = '']) =>
    layers.split(', ').map((layer) => `${capability}: ${layer}`),
  );
  expect(listed.sort()).toEqual([...new Set(folders)].sort());
});
