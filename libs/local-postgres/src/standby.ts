import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { makePrivateFolder } from '@pipeline/runtime';

const run = promisify(execFile);

/**
 * Copies the data folder of a stopped server, so that `startPostgres` on the copy starts a streaming replica; its
 * settings must have `primary_conninfo`. Copies keep the owner of the files.
 */
export async function prepareStandby(primaryDir: string, standbyDir: string): Promise<void> {
  const target = resolve(standbyDir);
  makePrivateFolder(target, () => false);
  for (const name of ['cluster', 'password']) await run('cp', ['-a', join(resolve(primaryDir), name), target]);
  await writeFile(join(target, 'cluster', 'standby.signal'), '');
}
