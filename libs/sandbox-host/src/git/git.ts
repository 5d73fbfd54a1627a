import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { makePrivateFolder } from '@pipeline/runtime';
import type { HostGit, PushRule } from '../state/model.ts';

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

/**
 * Refuses commits that change a workflow file if REFUSES_WORKFLOWS is set, and updates of branches by the rules in
 * PUSH_RULES: one rule per line, with tabs between the ref pattern, what it refuses and the words of the refusal.
 */
const UPDATE_HOOK = `#!/bin/sh
zero=0000000000000000000000000000000000000000
if [ -n "$REFUSES_WORKFLOWS" ] && [ "$3" != "$zero" ]; then
  changed=$(git log --format= --name-only -m "$3" --not --all -- .github/workflows | head -n 1)
  if [ -n "$changed" ]; then
    echo "refusing to allow a GitHub App to create or update workflow \\\`$changed\\\` without \\\`workflows\\\` permission" >&2
    exit 1
  fi
fi
printf '%s\\n' "$PUSH_RULES" | while IFS='	' read -r pattern kind words; do
  [ "$1" = "$pattern" ] || continue
  case "$kind" in
    push) [ "$3" != "$zero" ] || continue ;;
    delete) [ "$3" = "$zero" ] || continue ;;
    force)
      [ "$2" != "$zero" ] && [ "$3" != "$zero" ] || continue
      git merge-base --is-ancestor "$2" "$3" && continue ;;
    linear)
      [ "$3" != "$zero" ] || continue
      [ -n "$(git rev-list --merges -n 1 "$3" "^$2")" ] || continue ;;
  esac
  echo "error: GH006: Protected branch update failed for $1." >&2
  echo "error: $words" >&2
  exit 1
done
`;

/** Runs git without a shell and without this machine's own settings. */
export class Git implements HostGit {
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

  /** Variables under which git checks each branch of a push against these rules, and for changes of workflow files. */
  refusing(rules: readonly PushRule[], refusesWorkflows: boolean): Record<string, string> {
    if (rules.length === 0 && !refusesWorkflows) return {};
    return {
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'core.hooksPath',
      GIT_CONFIG_VALUE_0: this.#hooks,
      ...(refusesWorkflows && { REFUSES_WORKFLOWS: '1' }),
      PUSH_RULES: rules.map(({ branch, kind, words }) => [branchRef(branch), kind, words].join('\t')).join('\n'),
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
