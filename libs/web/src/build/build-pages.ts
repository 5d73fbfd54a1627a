import { chmodSync, existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'vite';
import { precompress } from './compress.ts';
import { fingerprint } from './fingerprint.ts';

const STAMP = '.built-from';

const stampOf = (folder: string): string | null => {
  const file = join(folder, STAMP);
  return existsSync(file) ? readFileSync(file, 'utf8') : null;
};

/** Returns whether `dist` of the package at `root` was built from the current sources. */
export const isBuilt = (root: string): boolean => stampOf(join(root, 'dist')) === fingerprint(root);

/**
 * Builds the pages of the package at `root` into its `dist`, which is replaced only after the build succeeded.
 * Concurrent builds of the same sources are allowed.
 */
export async function buildPages(root: string): Promise<void> {
  const folder = mkdtempSync(join(root, 'dist-'));
  try {
    const stamp = fingerprint(root);
    await build({ root, logLevel: 'warn', build: { outDir: folder, emptyOutDir: true } });
    precompress(join(folder, 'assets'));
    writeFileSync(join(folder, STAMP), stamp);
    chmodSync(folder, 0o755); // temporary folders are private
    replace(folder, join(root, 'dist'), stamp);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function replace(folder: string, dist: string, stamp: string): void {
  if (stampOf(dist) === stamp) return; // another build was faster, and may be served already
  try {
    rmSync(dist, { recursive: true, force: true });
    renameSync(folder, dist);
  } catch (error) {
    if (stampOf(dist) !== stamp) throw error; // otherwise another build of the same sources was faster
  }
}
