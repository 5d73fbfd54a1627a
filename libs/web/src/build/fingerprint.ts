import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

/** Files and folders of a package that a build is made of. Types of other packages do not change it. */
const FILES = ['index.html', 'package.json', 'vite.config.ts'];
const FOLDERS = ['src', 'scripts'];
/** The sources of this library, which every build contains. */
const SHARED = join(import.meta.dirname, '..');

/** Returns a hash of paths and contents of the sources in `root` and of this library. Another hash = out of date. */
export function fingerprint(root: string): string {
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
