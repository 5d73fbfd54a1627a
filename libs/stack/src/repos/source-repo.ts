import { execFile } from 'node:child_process';
import { realpath } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { parseSlug } from '@pipeline/domain';
import { StartError } from '@pipeline/runtime';
import type { StackState } from '../data/state.ts';
import { makeSampleRepo } from './sample-repo.ts';

const run = promisify(execFile);
const OWNER = 'demo';

export type Repo = StackState['repos'][number];

export interface SourceOptions {
  /** Path that the person gave. */
  path: string | undefined;
  /** This project's checkout. */
  root: string;
  dataDir: string;
  known: readonly Repo[];
  searchPath: string;
  say(message: string): void;
}

/**
 * The repos that the sandbox host serves: those of earlier starts, and the requested one. The first start takes
 * this project, or a small sample where this is no checkout.
 * @throws StartError for a path that is no git repository with a commit, and without git.
 */
export async function chooseRepos(options: SourceOptions): Promise<Repo[]> {
  const { path, known, root, dataDir, searchPath, say } = options;
  const env = gitEnv(searchPath);
  if (path === undefined && known.length > 0) return [...known];
  if (path !== undefined) {
    const top = await topOf(path, env);
    if (top === null) throw new StartError(`--repo ${path} is not a git repository with a commit`);
    return withRepo(known, top, basename(top));
  }
  // A checkout inside some other repository is not that repository.
  if ((await topOf(root, env)) === (await realpath(root))) return withRepo(known, root, 'pipeline');
  say('this folder is not a git checkout; serving a small sample repository (use --repo PATH to serve another one)');
  const sample = join(dataDir, 'source', 'sample');
  await makeSampleRepo(sample, env);
  return withRepo(known, sample, 'sample');
}

/** Every file of the newest commit. */
export async function filesOf(source: string, searchPath: string): Promise<string[]> {
  const args = ['-C', source, 'ls-tree', '-r', '-z', '--name-only', 'HEAD'];
  const { stdout } = await run('git', args, { env: gitEnv(searchPath), maxBuffer: 64 * 1024 * 1024 });
  return stdout.split('\0').filter((name) => name !== '');
}

/** Root of the work tree, or the bare repository itself; null when there is neither, or no commit. */
async function topOf(path: string, env: Record<string, string>): Promise<string | null> {
  const git = async (...args: string[]) => (await run('git', ['-C', path, ...args], { env })).stdout.trim();
  try {
    await git('rev-parse', '--verify', 'HEAD^{commit}');
    const isBare = (await git('rev-parse', '--is-bare-repository')) === 'true';
    return await realpath(await git('rev-parse', isBare ? '--absolute-git-dir' : '--show-toplevel'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') return null;
    throw new StartError('git was not found on the PATH: install git', { cause: error });
  }
}

function withRepo(known: readonly Repo[], source: string, name: string): Repo[] {
  if (known.some((repo) => repo.source === source)) return [...known];
  const clean = name.replace(/\.git$/, '').replace(/[^A-Za-z0-9._-]+/g, '-');
  const base = parseSlug(`${OWNER}/${clean}`) ? clean : 'repo';
  for (let count = 1; ; count += 1) {
    const slug = `${OWNER}/${count === 1 ? base : `${base}-${count}`}`;
    if (!known.some((repo) => repo.slug === slug)) return [...known, { slug, source }];
  }
}

/** Nothing of the machine's settings; a checkout may belong to another user. */
export const gitEnv = (searchPath: string): Record<string, string> => ({
  PATH: searchPath,
  LC_ALL: 'C',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_COUNT: '1',
  GIT_CONFIG_KEY_0: 'safe.directory',
  GIT_CONFIG_VALUE_0: '*',
});
