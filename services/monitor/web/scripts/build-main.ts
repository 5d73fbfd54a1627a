/** Builds the dashboard. `--if-stale` returns at once when `dist` was built from the current sources. */
import { parseArgs } from 'node:util';
import { buildDashboard, isBuilt } from './build.ts';

// Vite takes the mode of React from here; a test runner or a shell may have set another one.
process.env.NODE_ENV = 'production';

const { values } = parseArgs({ options: { 'if-stale': { type: 'boolean', default: false } } });

if (!values['if-stale'] || !isBuilt()) {
  const began = performance.now();
  await buildDashboard();
  console.error(`Built the dashboard in ${((performance.now() - began) / 1_000).toFixed(1)} s`);
}
