import { join } from 'node:path';
import type { RunningProgram } from '@pipeline/worker';
import type { Box, Sandbox } from '../sandbox/sandbox.ts';
import { GitFailure, gitEnvironment } from './run-git.ts';
import type { TaskFolders } from './tree-folders.ts';

export interface TreeGitOptions {
  sandbox: Sandbox;
  folders: TaskFolders;
  /** Folder of the objects that the work tree starts from; only read. */
  objects: string;
  env: Readonly<Record<string, string>>;
  signal: AbortSignal;
}

const MAX_OUTPUT = 64 * 1024 * 1024;
const WITHIN_MS = 15 * 60_000;

/** Index of the files as they were checked out. */
const indexOf = ({ store }: TaskFolders): string => join(store, 'index');
/** Repository without a configuration of anybody, which borrows the objects of the mirror. */
const repositoryOf = ({ store }: TaskFolders): string => join(store, 'repo');

/**
 * Runs git on the files of a task in a box of its own: as their owner, without a network, and with no right outside that
 * the agent did not have.
 */
export class TreeGit {
  readonly #options: TreeGitOptions;
  readonly #box: Box;

  constructor(options: TreeGitOptions) {
    const { sandbox, folders, objects } = options;
    this.#options = options;
    this.#box = sandbox.open({
      writable: [folders.tree, folders.store, folders.home],
      readable: [objects],
      network: false,
    });
  }

  /** Runs shell commands in the work tree. @returns their output. @throws GitFailure */
  async shell(script: string, args: readonly string[] = [], input = ''): Promise<Buffer> {
    const limits = { input, maxBytes: MAX_OUTPUT, timeoutMs: WITHIN_MS, signal: this.#options.signal };
    const { exitCode, stdout, stderr } = await this.#box.run(this.#program(script, args), limits);
    if (exitCode === 0) return stdout;
    throw new GitFailure(`git failed in the work tree: ${stderr.trim()}`, exitCode, stdout.toString('utf8'));
  }

  /** Starts shell commands whose output is a stream. */
  stream(script: string, args: readonly string[], input: string): RunningProgram {
    const program = this.#box.start(this.#program(script, args), 'pipe');
    program.stdin?.end(input);
    return program;
  }

  end(): Promise<void> {
    return this.#box.end();
  }

  #program(script: string, args: readonly string[]) {
    const { folders, env } = this.#options;
    const own = {
      HOME: folders.home,
      GIT_DIR: repositoryOf(folders),
      GIT_WORK_TREE: folders.tree,
      GIT_INDEX_FILE: indexOf(folders),
    };
    const command = ['/bin/sh', '-euc', script, 'git', ...args] as const;
    return { command, env: { ...gitEnvironment({ PATH: env.PATH ?? '' }), ...own }, cwd: folders.tree };
  }
}
