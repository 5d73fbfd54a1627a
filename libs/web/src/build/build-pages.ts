import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join, relative } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { build } from 'vite';

/** Files and folders of a package that a build is made of. Types of other packages do not change it. */
const FILES = ['index.html', 'package.json', 'vite.config.ts'];
const FOLDERS = ['src', 'scripts'];
/** The sources of this library, which every build contains. */
const SHARED = join(import.meta.dirname, '..');

/** Smaller files fit one packet as they are. */
const MIN_BYTES = 1_024;

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

/** Writes `<file>.br` and `<file>.gz` beside every text file of the folder that becomes smaller. */
function precompress(folder: string): void {
  for (const name of readdirSync(folder).filter((file) => /\.(js|css|svg)$/.test(file))) {
    const path = join(folder, name);
    const bytes = readFileSync(path);
    if (bytes.length < MIN_BYTES) continue;
    writeFileSync(`${path}.gz`, gzipSync(bytes, { level: 9 }));
    writeFileSync(
      `${path}.br`,
      brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length } }),
    );
  }
}

/** Returns a hash of paths and contents of the sources in `root` and of this library. Another hash = out of date. */
function fingerprint(root: string): string {
  const files = [
    ...FILES.map((file) => join(root, file)),
    ...FOLDERS.flatMap((folder) => filesBelow(join(root, folder))),
    ...filesBelow(SHARED),
  ];
  const hash = createHash('sha256');
  for (const file of files.sort())
    hash
      .update(`${relative(root, file)}\0`)
      .update(readFileSync(file))
      .update('\0');
  return hash.digest('hex');
}

const filesBelow = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && !entry.name.includes('.test.'))
    .map((entry) => join(entry.parentPath, entry.name));
