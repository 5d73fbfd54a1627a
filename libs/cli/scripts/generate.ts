/**
 * Writes docs/reference/cli.md from the commands themselves. With `--check` it compares only, and exits 1 on drift.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cliReference } from './reference.ts';

const path = join(import.meta.dirname, '../../../docs/reference/cli.md');
const wanted = cliReference();
const stale = !existsSync(path) || readFileSync(path, 'utf8') !== wanted;
if (!process.argv.includes('--check')) {
  if (stale) writeFileSync(path, wanted);
} else if (stale) {
  console.error('Not up to date: docs/reference/cli.md\nUpdate with: node libs/cli/scripts/generate.ts');
  process.exitCode = 1;
}
