/**
 * Writes every generated file of the repository; with `--check` compares them and exits 1 when one differs from what
 * its source states. A generator is a program of its own that takes the same `--check`: add a line when you write one.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');

const generators = [
  {
    what: 'workflow drawing, block reasons, metrics, schema of the configuration',
    file: 'libs/domain/scripts/generate.ts',
  },
  { what: 'OpenAPI documents, error reference', file: 'libs/contract/scripts/generate.ts' },
  { what: 'routes of the dashboard', file: 'services/monitor/web/scripts/generate-routes-main.ts' },
  { what: 'routes of the customers’ pages', file: 'services/hosted-api/web/scripts/generate-routes-main.ts' },
  { what: 'examples and reference of the environment', file: 'scripts/env-examples.ts' },
  { what: 'picture of the imports between packages', file: 'scripts/import-picture.ts' },
  { what: 'schema of the values of the chart', file: 'scripts/chart-schema.ts' },
  { what: 'reference of the command line', file: 'libs/cli/scripts/generate.ts' },
  { what: 'operations of the client', file: 'libs/client/scripts/generate.ts' },
  { what: 'regular expressions that are proven linear', file: 'scripts/linear-patterns.ts' },
  { what: 'row types of the store', file: 'libs/store/scripts/generate-types.ts' },
];

const failed = generators.filter(({ what, file }) => {
  const argv = ['--disable-warning=ExperimentalWarning', join(root, file), ...process.argv.slice(2)];
  const { status } = spawnSync(process.execPath, argv, { cwd: root, stdio: 'inherit' });
  if (status !== 0) console.error(`${what}: ${file} ended with status ${status}`);
  return status !== 0;
});
if (failed.length > 0) {
  console.error('\nBring generated files up to date with: npm run generate');
  process.exitCode = 1;
}
