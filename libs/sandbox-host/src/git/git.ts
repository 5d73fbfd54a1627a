import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { makePrivateFolder } from '@pipeline/runtime';

const run = promisify(execFile);

export class GitError extends Error {
  readonly code: number | null;
  readonly stdout: string;

  constructor(args: string[], failure: { code?: unknown; stdout?: string; stderr?: string; message?: string }) {
    super(`git ${args[0]}: ${(failure.stderr || failure.message || 'failed').trim()}`);
    this.name = 'GitError';
    this.code = typeof failure.code === 'number' ? failure.code : null;
    this.stdout = failure.stdout ?? '';
  }
}

const UPDATE_HOOK = `#!/bin/sh
[ "$1" = "$PROTECTED_REF" ] || exit 0
echo "error: GH006: Protected branch update failed for $1." >&2
exit 1
`;

/** Runs git without a shell and without this machine's own settings. */
export class Git {
  readonly root: string;
  readonly env: NodeJS.ProcessEnv;
  readonly #hooks: string;

  /** @param dataDir holds one bare repository per repo under `git/`. */
  constructor(dataDir: string, searchPath: string | undefined) {
    this.root = path.join(dataDir, 'git');
    makePrivateFolder(this.root);
    const config = path.join(dataDir, 'gitconfig');
    this.#hooks = path.join(dataDir, 'hooks');
    makePrivateFolder(this.#hooks);
    writeFileSync(path.join(this.#hooks, 'update'), UPDATE_HOOK, { mode: 0o755 });
    // A repository to import may belong to another user; pushes over HTTP are checked before git sees them.
    writeFileSync(config, '[safe]\n\tdirectory = *\n[http]\n\treceivepack = true\n[gc]\n\tauto = 0\n');
    this.env = {
      PATH: searchPath,
      HOME: dataDir,
      GIT_CONFIG_GLOBAL: config,
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_TERMINAL_PROMPT: '0',
      LC_ALL: 'C',
    };
  }

  /** Variables under which a push to that branch is refused; git runs the hook for each branch of a push. */
  refusingPushesTo(branch: string): Record<string, string> {
    return {
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'core.hooksPath',
      GIT_CONFIG_VALUE_0: this.#hooks,
      PROTECTED_REF: branchRef(branch),
    };
  }

  dir(repo: { id: number }): string {
    return path.join(this.root, `${repo.id}.git`);
  }

  /**
   * @returns stdout without the newline at its end.
   * @throws GitError with what git wrote.
   */
  async run(cwd: string, args: string[], env: Record<string, string> = {}): Promise<string> {
    try {
      const { stdout } = await run('git', args, { cwd, env: { ...this.env, ...env }, maxBuffer: 64 * 1024 * 1024 });
      return stdout.replace(/\n$/, '');
    } catch (error) {
      throw new GitError(args, error as Error);
    }
  }

  /** The commit a branch or any revision points to; null when there is none. */
  async resolve(cwd: string, revision: string): Promise<string | null> {
    try {
      return await this.run(cwd, ['rev-parse', '--verify', '--quiet', '--end-of-options', `${revision}^{commit}`]);
    } catch (error) {
      if (error instanceof GitError && error.code !== null) return null;
      throw error;
    }
  }

  /** True when everything in `ancestor` is in `commit`. */
  async contains(cwd: string, commit: string, ancestor: string): Promise<boolean> {
    try {
      await this.run(cwd, ['merge-base', '--is-ancestor', ancestor, commit]);
      return true;
    } catch (error) {
      if (error instanceof GitError && error.code === 1) return false;
      throw error;
    }
  }
}

export const branchRef = (branch: string): string => `refs/heads/${branch}`;
