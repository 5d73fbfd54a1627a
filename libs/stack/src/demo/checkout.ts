import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { Edit, Tree } from './chores/chore.ts';
import { AgentFailure } from './failure.ts';

const run = promisify(execFile);
/** Longer paths do not fit into a code map. */
const MAX_PATH = 1_000;
const MAX_OUTPUT = 64 * 1024 * 1024;

export interface CheckoutOptions {
  /** Belongs to one worker slot: the clone in it is kept from task to task, and nobody else works in it. */
  workDir: string;
  slug: string;
  cloneUrl: string;
  defaultBranch: string;
  /** Complete environment for git: git-env.ts. */
  env: Record<string, string>;
  onRead(text: string): void;
}

interface GitFailure {
  code?: number | string;
  stdout?: string;
  stderr?: string;
}

/** A clone of the repository. Every method leaves the work tree at a known commit, with no stray files. */
export class Checkout {
  readonly dir: string;
  /** The newest state of the default branch on the host. */
  readonly base: string;
  readonly #options: CheckoutOptions;

  private constructor(options: CheckoutOptions) {
    this.#options = options;
    this.dir = join(options.workDir, options.slug.replace('/', '__'));
    this.base = `refs/remotes/origin/${options.defaultBranch}`;
  }

  /** Clones, or brings the kept clone up to date; a clone that a killed run left broken is made anew. */
  static async open(options: CheckoutOptions): Promise<Checkout> {
    const checkout = new Checkout(options);
    if (existsSync(join(checkout.dir, '.git')) && (await checkout.#refreshed())) return checkout;
    const partial = `${checkout.dir}.partial`;
    await rm(partial, { recursive: true, force: true });
    await mkdir(options.workDir, { recursive: true });
    await checkout.#git(options.workDir, ['clone', '-q', '--no-checkout', '--template=', options.cloneUrl, partial]);
    // Only now: a host that is away for a moment costs no clone.
    await rm(checkout.dir, { recursive: true, force: true });
    await rename(partial, checkout.dir);
    if ((await checkout.commitOf(checkout.base)) === null)
      throw new AgentFailure('permanent', `${options.slug} has no branch ${options.defaultBranch} to work on`);
    await checkout.at(checkout.base);
    return checkout;
  }

  async #refreshed(): Promise<boolean> {
    try {
      await this.git('remote', 'set-url', 'origin', this.#options.cloneUrl);
      await this.git('fetch', '-q', '--prune', 'origin', '+refs/heads/*:refs/remotes/origin/*');
      await rm(join(this.dir, '.git/rebase-merge'), { recursive: true, force: true });
      await this.at(this.base);
      return true;
    } catch {
      return false;
    }
  }

  /** @throws Error with git's own words, without the credentials that a URL may hold. */
  git(...args: string[]): Promise<string> {
    return this.#git(this.dir, args);
  }

  async #git(cwd: string, args: string[]): Promise<string> {
    try {
      const { stdout } = await run('git', args, { cwd, env: this.#options.env, maxBuffer: MAX_OUTPUT });
      return stdout;
    } catch (error) {
      const { code, stderr, stdout } = error as GitFailure;
      const said = withoutCredentials(stderr || stdout || String(error)).trim();
      throw Object.assign(new Error(`git ${args[0]} failed: ${said}`), { exitCode: code, stdout: stdout ?? '' });
    }
  }

  /** The commit a name stands for, null when there is none. */
  async commitOf(ref: string): Promise<string | null> {
    return (await this.git('rev-parse', '-q', '--verify', `${ref}^{commit}`).catch(() => '')).trim() || null;
  }

  remote(branch: string): string {
    return `refs/remotes/origin/${branch}`;
  }

  /** Puts the work tree at a commit and throws away everything else in it. */
  async at(ref: string): Promise<void> {
    await this.git('checkout', '-q', '--force', '--detach', ref);
    await this.git('clean', '-qffdx');
  }

  /** Files that differ between where the two histories parted and `head`. */
  async changedFiles(base: string, head: string): Promise<string[]> {
    return names(await this.git('diff', '--name-only', '-z', `${base}...${head}`));
  }

  /** The files in which two commits cannot be merged without a person; none = a clean merge. */
  async conflicts(base: string, head: string): Promise<string[]> {
    try {
      await this.git('merge-tree', '--write-tree', '--name-only', '--no-messages', '-z', base, head);
      return [];
    } catch (error) {
      const { exitCode, stdout } = error as { exitCode?: number; stdout?: string };
      if (exitCode !== 1) throw error;
      return [...new Set(names(stdout ?? '').slice(1))];
    }
  }

  /** The regular files of the default branch, as git has them; sizes in bytes. */
  async blobs(): Promise<{ path: string; sha: string; size: number }[]> {
    return names(await this.git('ls-tree', '-r', '-l', '-z', this.base)).flatMap((entry) => {
      const [, mode, sha = '', size, path = ''] = /^(\d+) \w+ (\w+) +(\S+)\t(.*)$/s.exec(entry) ?? [];
      return mode?.startsWith('100') && path.length <= MAX_PATH ? [{ path, sha, size: Number(size) }] : [];
    });
  }

  /** The regular files of the work tree; symbolic links are never followed or written through. */
  async tree(): Promise<Tree> {
    const entries = names(await this.git('ls-files', '-s', '-z'));
    const paths = entries
      .filter((entry) => entry.startsWith('100'))
      .map((entry) => entry.slice(entry.indexOf('\t') + 1));
    const known = new Set(paths);
    return {
      paths,
      read: (path) => {
        const text = known.has(path) ? decode(readFileSync(join(this.dir, path))) : null;
        this.#options.onRead(text ?? '');
        return text;
      },
    };
  }

  async write(edits: Edit[]): Promise<void> {
    const entries = names(await this.git('ls-files', '-s', '-z'));
    const links = entries
      .filter((entry) => entry.startsWith('120000'))
      .map((entry) => entry.slice(entry.indexOf('\t') + 1));
    for (const { path, text } of edits) {
      const link = links.find((known) => path === known || path.startsWith(`${known}/`));
      if (link) throw new AgentFailure('permanent', `${path} is behind the symbolic link ${link} and was not written`);
      await mkdir(dirname(join(this.dir, path)), { recursive: true });
      await writeFile(join(this.dir, path), text);
    }
  }
}

/** A text in which no URL shows its user or password. */
export const withoutCredentials = (text: string): string => text.replace(/\/\/[^@/\s]+@/g, '//***@');

const names = (output: string): string[] => output.split('\0').filter((name) => name !== '');

function decode(bytes: Buffer): string | null {
  if (bytes.includes(0)) return null;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}
