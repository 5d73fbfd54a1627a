import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { GitCredentials } from '@pipeline/worker';
import { GitFailure, git, gitEnvironment, names } from './run-git.ts';

const SHA = /^[0-9a-f]{40}([0-9a-f]{24})?$/;
const DEEPEN_BY = 500;
const MAX_PACK_BYTES = 1024 * 1024 * 1024;
const MAX_ERRORS = 4_000;

export interface MirrorOptions {
  /** Folder of all mirrors. */
  folder: string;
  slug: string;
  cloneUrl: string;
  /** Commits of history that a fetch takes. */
  depth: number;
  env: Readonly<Record<string, string>>;
}

/** Access to the host for one task. */
export interface HostAccess {
  credentials: GitCredentials | null;
  signal: AbortSignal;
}

/**
 * A bare, shallow copy of one repository, shared by the tasks of a worker. Only this process writes to it; agents read its
 * objects. Fetches of one mirror run one after the other.
 */
export class Mirror {
  readonly dir: string;
  readonly #options: MirrorOptions;
  #queue: Promise<unknown> = Promise.resolve();

  constructor(options: MirrorOptions) {
    this.#options = options;
    this.dir = join(options.folder, `${options.slug.replace('/', '__')}.git`);
  }

  /** Folder of the objects. */
  get objects(): string {
    return join(this.dir, 'objects');
  }

  /** Fetches these branches, without the ones that the host does not have. @returns the commit of each branch. */
  fetch(branches: readonly string[], access: HostAccess): Promise<Map<string, string>> {
    return this.#alone(async () => {
      const heads = await this.#heads(branches, access);
      try {
        await this.#fetchHeads([...heads.keys()], access);
      } catch (error) {
        access.signal.throwIfAborted();
        // A process that was killed may have left locks or half of a pack.
        if (!existsSync(this.dir)) throw error;
        await rm(this.dir, { recursive: true, force: true });
        await this.#fetchHeads([...heads.keys()], access);
      }
      // A push between both commands moves a branch: what was fetched counts.
      for (const name of heads.keys()) heads.set(name, (await this.commitOf(`refs/heads/${name}`)) ?? '');
      return heads;
    });
  }

  /** Fetches a commit that no branch contains any more. @returns false when the host does not have it. */
  fetchCommit(sha: string, { credentials, signal }: HostAccess): Promise<boolean> {
    return this.#alone(async () => {
      if ((await this.commitOf(sha)) !== null) return true;
      const env = gitEnvironment(this.#options.env, credentials);
      const args = ['fetch', '-q', '--no-tags', `--depth=${this.#options.depth}`, this.#options.cloneUrl, sha];
      return git(args, { cwd: this.dir, env, signal }).then(
        () => true,
        () => false,
      );
    });
  }

  /** Extends the history until two commits have a common ancestor. @returns it; null when they have none. */
  mergeBase(one: string, other: string, access: HostAccess): Promise<string | null> {
    return this.#alone(async () => {
      for (const deeper of [null, `--deepen=${DEEPEN_BY}`, '--unshallow']) {
        if (deeper !== null && !(await this.#isShallow())) return null;
        if (deeper !== null) await this.#deepen(deeper, access);
        const base = (await this.git(['merge-base', one, other]).catch(() => '')).trim();
        if (base !== '') return base;
      }
      return null;
    });
  }

  /**
   * Merges two commits without a work tree. @returns the tree, with markers in the files that conflict, and these files.
   */
  async merge(ours: string, theirs: string): Promise<{ tree: string; conflicts: string[] }> {
    const args = ['merge-tree', '--write-tree', '--name-only', '--no-messages', '-z', ours, theirs];
    try {
      return { tree: (await this.git(args)).replace(/\0[\s\S]*$/, '').trim(), conflicts: [] };
    } catch (error) {
      const { exitCode, stdout } = error as { exitCode?: number; stdout?: string };
      if (exitCode !== 1) throw error;
      const [tree = '', ...conflicts] = names(stdout ?? '');
      return { tree, conflicts: [...new Set(conflicts)] };
    }
  }

  /** Pushes a commit to a branch unless the branch moved. `expected` is its commit; null = a new branch. */
  async push(commit: string, branch: string, expected: string | null, access: HostAccess): Promise<void> {
    const env = gitEnvironment(this.#options.env, access.credentials);
    const lease = `--force-with-lease=refs/heads/${branch}:${expected ?? ''}`;
    const args = ['push', '-q', lease, this.#options.cloneUrl, `${commit}:refs/heads/${branch}`];
    await git(args, { cwd: this.dir, env, signal: access.signal });
  }

  /** Returns the tree of a commit or tree. */
  async treeOf(name: string): Promise<string> {
    return (await this.git(['rev-parse', '--verify', `${name}^{tree}`])).trim();
  }

  /**
   * Adds the objects of a pack that a box made, unless one of them is damaged, not allowed in a repository or refers to an
   * object that is missing. @throws GitFailure
   */
  async receive(pack: Readable): Promise<void> {
    const args = ['index-pack', '--stdin', '--fix-thin', '--strict', `--max-input-size=${MAX_PACK_BYTES}`];
    const options = { cwd: this.dir, env: gitEnvironment(this.#options.env) };
    const child = spawn('git', args, { ...options, stdio: ['pipe', 'ignore', 'pipe'] });
    let errors = '';
    child.stderr.on('data', (chunk: Buffer) => {
      errors = `${errors}${chunk}`.slice(-MAX_ERRORS);
    });
    const ended = once(child, 'close') as Promise<[number | null]>;
    // The end of git names the problem.
    await pipeline(pack, child.stdin).catch(() => undefined);
    const [exitCode] = await ended;
    if (exitCode !== 0) throw new GitFailure(`the files were refused: ${errors.trim()}`, exitCode, '');
  }

  /** Runs git in the mirror, without credentials. */
  git(args: readonly string[], env: Readonly<Record<string, string>> = {}, input = ''): Promise<string> {
    return git(args, { cwd: this.dir, env: { ...gitEnvironment(this.#options.env), ...env }, input });
  }

  /** Returns the commit of a name; null when the mirror does not have it. */
  async commitOf(name: string): Promise<string | null> {
    return (await this.git(['rev-parse', '-q', '--verify', `${name}^{commit}`]).catch(() => '')).trim() || null;
  }

  /** Returns the text of a file of a commit; null when there is none. */
  async fileOf(commit: string, path: string): Promise<string | null> {
    const type = (await this.git(['ls-tree', '--format=%(objectmode)', commit, '--', path]).catch(() => '')).trim();
    return /^100/.test(type) ? this.git(['cat-file', 'blob', `${commit}:${path}`]) : null;
  }

  /** Returns the content of blobs, in their order. */
  async *blobs(ids: readonly string[], signal: AbortSignal): AsyncGenerator<Buffer, undefined> {
    let left: Buffer = Buffer.alloc(0);
    for await (const chunk of this.contents(ids, signal)) {
      left = Buffer.concat([left, chunk]);
      for (let next = firstBlob(left); next !== null; next = firstBlob(left)) {
        yield next.bytes;
        left = next.left;
      }
    }
    return undefined;
  }

  /** Returns the content of blobs in parts of any size; a line with its id, type and size is before each one. */
  async *contents(ids: readonly string[], signal: AbortSignal): AsyncGenerator<Buffer, undefined> {
    const options = { cwd: this.dir, env: gitEnvironment(this.#options.env), signal };
    const child = spawn('git', ['cat-file', '--batch', '--buffer'], { ...options, stdio: ['pipe', 'pipe', 'ignore'] });
    child.on('error', () => undefined);
    child.stdin.on('error', () => undefined).end(ids.map((id) => `${id}\n`).join(''));
    yield* child.stdout as AsyncIterable<Buffer>;
    signal.throwIfAborted();
    return undefined;
  }

  async #heads(branches: readonly string[], { credentials, signal }: HostAccess): Promise<Map<string, string>> {
    await mkdir(this.#options.folder, { recursive: true });
    const patterns = branches.map((branch) => `refs/heads/${branch}`);
    const env = gitEnvironment(this.#options.env, credentials);
    const args = ['ls-remote', '-q', '--', this.#options.cloneUrl, ...patterns];
    const output = await git(args, { cwd: this.#options.folder, env, signal });
    const lines = output.split('\n').map((line) => line.split('\t'));
    const found = lines.filter(([sha = '', name = '']) => SHA.test(sha) && patterns.includes(name));
    return new Map(found.map(([sha = '', name = '']) => [name.slice('refs/heads/'.length), sha]));
  }

  async #fetchHeads(branches: readonly string[], { credentials, signal }: HostAccess): Promise<void> {
    if (!existsSync(join(this.dir, 'HEAD'))) {
      await mkdir(this.dir, { recursive: true });
      await this.git(['init', '-q', '--bare', '--template=', '.']);
    }
    if (branches.length === 0) return;
    const env = gitEnvironment(this.#options.env, credentials);
    const specs = branches.map((branch) => `+refs/heads/${branch}:refs/heads/${branch}`);
    const depth = `--depth=${this.#options.depth}`;
    await git(['fetch', '-q', '--no-tags', depth, this.#options.cloneUrl, ...specs], { cwd: this.dir, env, signal });
  }

  async #isShallow(): Promise<boolean> {
    return (await this.git(['rev-parse', '--is-shallow-repository'])).trim() === 'true';
  }

  async #deepen(option: string, { credentials, signal }: HostAccess): Promise<void> {
    const heads = (await this.git(['for-each-ref', '--format=%(refname)', 'refs/heads'])).trim().split('\n');
    const env = gitEnvironment(this.#options.env, credentials);
    const specs = heads.filter((name) => name !== '').map((name) => `+${name}:${name}`);
    const args = ['fetch', '-q', '--no-tags', option, this.#options.cloneUrl, ...specs];
    await git(args, { cwd: this.dir, env, signal });
  }

  #alone<T>(work: () => Promise<T>): Promise<T> {
    const next = this.#queue.then(work, work);
    this.#queue = next.catch(() => undefined);
    return next;
  }
}

/** Splits the first object off the output of `cat-file --batch`: a line with its size, the content, and a line break. */
function firstBlob(output: Buffer): { bytes: Buffer; left: Buffer } | null {
  const head = output.indexOf('\n');
  if (head < 0) return null;
  const size = Number(output.toString('latin1', 0, head).split(' ')[2]);
  const [from, end] = [head + 1, head + 1 + size];
  return output.length > end ? { bytes: output.subarray(from, end), left: output.subarray(end + 1) } : null;
}
