/** Builds the customers' pages. `--if-stale` returns at once when `dist` was built from the current sources. */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { buildPages, isBuilt } from '@pipeline/web/build/build-pages.ts';

// Vite takes the mode of React from here; a test runner or a shell may have set another one.
process.env.NODE_ENV = 'production';

const ROOT = join(import.meta.dirname, '..');
const { values } = parseArgs({ options: { 'if-stale': { type: 'boolean', default: false } } });

if (!values['if-stale'] || !isBuilt(ROOT)) {
  const began = performance.now();
  await buildPages(ROOT);
  console.error(`Built the customers' pages in ${((performance.now() - began) / 1_000).toFixed(1)} s`);
}
