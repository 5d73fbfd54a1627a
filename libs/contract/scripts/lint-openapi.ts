import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { hostedSurface, monitorSurface, openApiDocument } from '../src/index.ts';

// Lints both documents; a warning fails as an error does. Works without a network.
const folder = mkdtempSync(join(tmpdir(), 'openapi-'));
const redocly = fileURLToPath(import.meta.resolve('@redocly/cli/bin/cli.js'));
const quiet = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };

try {
  const files = [hostedSurface, monitorSurface].map((surface) => {
    const file = join(folder, `${surface.name}.json`);
    writeFileSync(file, JSON.stringify(openApiDocument(surface), null, 2));
    return file;
  });
  const argv = [redocly, 'lint', ...files, '--extends=recommended-strict'];
  const { status, error } = spawnSync(process.execPath, argv, { cwd: folder, env: quiet, stdio: 'inherit' });
  if (error) throw error;
  process.exitCode = status ?? 1;
} finally {
  rmSync(folder, { recursive: true });
}
