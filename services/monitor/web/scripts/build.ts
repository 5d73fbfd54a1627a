import { chmodSync, existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'vite';
import { precompress } from './compress.ts';
import { fingerprint } from './fingerprint.ts';

const ROOT = join(import.meta.dirname, '..');
const DIST = join(ROOT, 'dist');
const STAMP = '.built-from';

const stampOf = (folder: string): string | null => {
  const file = join(folder, STAMP);
  return existsSync(file) ? readFileSync(file, 'utf8') : null;
};

/** Returns whether `dist` was built from the current sources. */
export const isBuilt = (): boolean => stampOf(DIST) === fingerprint(ROOT);

/**
 * Builds the dashboard into `dist`, which is replaced only after the build succeeded. Concurrent builds of the same
 * sources are allowed.
 */
export async function buildDashboard(): Promise<void> {
  const folder = mkdtempSync(join(ROOT, 'dist-'));
  try {
    const stamp = fingerprint(ROOT);
    await build({ root: ROOT, logLevel: 'warn', build: { outDir: folder, emptyOutDir: true } });
    precompress(join(folder, 'assets'));
    writeFileSync(join(folder, STAMP), stamp);
    chmodSync(folder, 0o755); // temporary folders are private
    replace(folder, stamp);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function replace(folder: string, stamp: string): void {
  try {
    rmSync(DIST, { recursive: true, force: true });
    renameSync(folder, DIST);
  } catch (error) {
    if (stampOf(DIST) !== stamp) throw error; // otherwise another build of the same sources was faster
  }
}
