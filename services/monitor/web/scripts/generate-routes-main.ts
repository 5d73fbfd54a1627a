/**
 * Writes src/api/routes.generated.ts: method and path of every documented route of the monitor. With `--check` it compares, and exits 1 when the
 * file is out of date.
 */
import { join } from 'node:path';
import { monitorSurface } from '@pipeline/contract';
import { putRoutesFile } from '@pipeline/web/build/routes-file.ts';

const FILE = join(import.meta.dirname, '../src/api/routes.generated.ts');
const routes = monitorSurface.routes.filter((route) => !('undocumented' in route));

if (!putRoutesFile(FILE, routes, process.argv.includes('--check'))) {
  console.error(`${FILE} is out of date`);
  process.exitCode = 1;
}
