import { chmodSync, lstatSync } from 'node:fs';
import { dirname } from 'node:path';
import { makeFolder } from '@pipeline/runtime';

const PRIVATE = 0o700;

/**
 * Creates the work directory. The default one and its parent are in a folder in which everybody may create files, so both
 * must be private folders of this user.
 * @throws Error naming a folder that cannot be created, is a link, or belongs to somebody else.
 */
export function makeWorkFolder(path: string, isDefault: boolean): void {
  makeFolder(path);
  for (const folder of isDefault ? [dirname(path), path] : []) {
    const found = lstatSync(folder);
    if (!found.isDirectory()) throw new Error(`${folder} is a link`);
    if (found.uid !== process.getuid?.()) throw new Error(`${folder} belongs to another user (${found.uid})`);
    if ((found.mode & 0o777) !== PRIVATE) chmodSync(folder, PRIVATE);
  }
}
