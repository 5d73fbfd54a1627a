import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { BOT } from './sandbox-world.ts';

/** Pushes one commit to a new branch of a repository of the sandbox host. @returns the commit. */
export async function pushBranch(repoUrl: string, branch: string): Promise<string> {
  const dir = mkdtempSync(join(tmpdir(), 'push-branch-'));
  const identity = ['-c', 'user.name=w', '-c', 'user.email=w@example.com'];
  const git = async (...args: string[]) =>
    (await promisify(execFile)('git', ['-C', dir, ...identity, ...args])).stdout.trim();
  await git('clone', '-q', repoUrl.replace('//', `//x:${BOT.token}@`), '.');
  await git('checkout', '-qb', branch);
  writeFileSync(join(dir, 'new.txt'), 'new\n');
  await git('add', '.');
  await git('commit', '-qm', 'change');
  await git('push', '-q', 'origin', branch);
  const head = await git('rev-parse', 'HEAD');
  rmSync(dir, { recursive: true });
  return head;
}
