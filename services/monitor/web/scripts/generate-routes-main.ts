/**
 * Writes src/api/routes.generated.ts: method and path of every documented route of the monitor, so that the dashboard
 * needs the contract for types only. With `--check` it compares, and exits 1 when the file is out of date.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { monitorSurface } from '@pipeline/contract';

const FILE = join(import.meta.dirname, '../src/api/routes.generated.ts');

const lines = monitorSurface.routes
  .filter((route) => !('undocumented' in route))
  .map(({ id, method, path }) => `  ${id}: ['${method}', '${path}'],`);
const text = `// Written by scripts/generate-routes-main.ts.\nexport const ROUTES = {\n${lines.join('\n')}\n} as const;\n`;

if (!process.argv.includes('--check')) writeFileSync(FILE, text);
else if (!existsSync(FILE) || readFileSync(FILE, 'utf8') !== text) {
  console.error(`${FILE} is out of date`);
  process.exitCode = 1;
}
