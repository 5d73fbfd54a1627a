import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gitEnv } from '../src/repos/source-repo.ts';
import type { StackReport } from '../src/start/report.ts';

const run = promisify(execFile);

export type Git = (...args: string[]) => Promise<string>;

/** Lets a check look into a bare clone of the demo repository as the host has it now. */
export async function withClone<T>(
  { report, searchPath }: { report: StackReport; searchPath: string },
  look: (git: Git) => Promise<T>,
): Promise<T> {
  const dir = await mkdtemp(join(tmpdir(), 'pipeline-e2e-git-'));
  const git: Git = async (...args) =>
    (await run('git', args, { cwd: dir, env: gitEnv(searchPath), maxBuffer: 64 * 1024 * 1024 })).stdout;
  try {
    await git('clone', '-q', '--bare', `${report.sandbox.url}/${report.repos[0]}.git`, dir);
    return await look(git);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}
