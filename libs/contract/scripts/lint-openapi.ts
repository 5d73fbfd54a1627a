import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { hostedSurface, monitorSurface, openApiDocument } from '../src/index.ts';

// Lints both OpenAPI documents with Redocly. Warnings fail the run. Needs no network.
const folder = mkdtempSync(join(tmpdir(), 'openapi-'));
const quiet = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };

function run(program: string, ...argv: string[]): void {
  const path = fileURLToPath(new URL(`../node_modules/${program}`, import.meta.url));
  const { status, error } = spawnSync(process.execPath, [path, ...argv], { cwd: folder, env: quiet, stdio: 'inherit' });
  if (error) throw error;
  if (status !== 0) process.exitCode = status ?? 1;
}

try {
  const files = [hostedSurface, monitorSurface].map((surface) => {
    const file = join(folder, `${surface.name}.json`);
    writeFileSync(file, JSON.stringify(openApiDocument(surface), null, 2));
    return file;
  });
  run('@redocly/cli/bin/cli.js', 'lint', ...files, '--extends=recommended-strict');
} finally {
  rmSync(folder, { recursive: true });
}
