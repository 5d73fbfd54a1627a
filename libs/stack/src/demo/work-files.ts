import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Edit, Tree } from './chores/chore.ts';
import { AgentFailure } from './failure.ts';

const run = promisify(execFile);
const MAX_OUTPUT = 64 * 1024 * 1024;

/** The work tree that pipeline-agent has prepared for a task. */
export class WorkFiles {
  readonly dir: string;
  /** State of the default branch. */
  readonly base: string;

  constructor(dir: string, defaultBranch: string) {
    this.dir = dir;
    this.base = `refs/remotes/origin/${defaultBranch}`;
  }

  /** Runs git in the work tree. @throws Error with the output of git. */
  async git(...args: string[]): Promise<string> {
    try {
      return (await run('git', args, { cwd: this.dir, maxBuffer: MAX_OUTPUT })).stdout;
    } catch (error) {
      const { code, stderr, stdout } = error as { code?: unknown; stderr?: string; stdout?: string };
      const output = (stderr || stdout || String(error)).trim();
      throw Object.assign(new Error(`git ${args[0]} failed: ${output}`), { exitCode: code, stdout: stdout ?? '' });
    }
  }

  /** Returns the commit that the work tree starts from. */
  async head(): Promise<string> {
    return (await this.git('rev-parse', 'HEAD')).trim();
  }

  /** Returns the files that differ between the default branch and the commit of the work tree. */
  async changedFiles(): Promise<string[]> {
    return names(await this.git('diff', '--name-only', '-z', `${this.base}...HEAD`));
  }

  /** Returns the files in which the commit of the work tree conflicts with the default branch. */
  async conflicts(): Promise<string[]> {
    try {
      await this.git('merge-tree', '--write-tree', '--name-only', '--no-messages', '-z', this.base, 'HEAD');
      return [];
    } catch (error) {
      const { exitCode, stdout } = error as { exitCode?: number; stdout?: string };
      if (exitCode !== 1) throw error;
      return [...new Set(names(stdout ?? '').slice(1))];
    }
  }

  /** Takes files as they are on the default branch; those that it does not have are removed. */
  async restore(paths: readonly string[]): Promise<void> {
    for (const path of paths) {
      const onBase = await this.git('ls-tree', '-z', '--name-only', this.base, '--', path);
      if (onBase !== '') await this.git('checkout', '-q', this.base, '--', path);
      else await rm(join(this.dir, path), { force: true });
    }
  }

  /** Returns the regular files of the work tree. Symbolic links are not followed. */
  async tree(): Promise<Tree> {
    const paths = (await this.#entries('100')).filter((path) => existsSync(join(this.dir, path)));
    const known = new Set(paths);
    return { paths, read: (path) => (known.has(path) ? decode(readFileSync(join(this.dir, path))) : null) };
  }

  /** @throws AgentFailure when an edit would write through a symbolic link of the repository. */
  async requireNoLinks(edits: readonly Edit[]): Promise<void> {
    const links = await this.#entries('120000');
    for (const { path } of edits) {
      const link = links.find((known) => path === known || path.startsWith(`${known}/`));
      if (link) throw new AgentFailure('permanent', `${path} is behind the symbolic link ${link} and was not written`);
    }
  }

  async #entries(mode: string): Promise<string[]> {
    const entries = names(await this.git('ls-files', '-s', '-z')).filter((entry) => entry.startsWith(mode));
    return entries.map((entry) => entry.slice(entry.indexOf('\t') + 1));
  }
}

const names = (output: string): string[] => output.split('\0').filter((name) => name !== '');

function decode(bytes: Buffer): string | null {
  if (bytes.includes(0)) return null;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}
