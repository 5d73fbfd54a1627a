import { execFile } from 'node:child_process';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

const PARTS = ['orders', 'stock', 'billing', 'search', 'reports', 'users', 'mail', 'files', 'audit'];
const IDENTITY = { GIT_AUTHOR_NAME: 'sample', GIT_AUTHOR_EMAIL: 'sample@localhost' };
const COMMITTER = { GIT_COMMITTER_NAME: 'sample', GIT_COMMITTER_EMAIL: 'sample@localhost' };

const source = (part: string): string =>
  `export interface Entry {
  id: number;
  part: '${part}';
}

export function list(entries: readonly Entry[]): number[] {
  return entries.map((entry) => entry.id);
}

/** The entry of that id. */
export const find = (entries: readonly Entry[], id: number): Entry | undefined => entries.find((one) => one.id === id);
`;

const page = (part: string, next: string): string =>
  `# The ${part}

What the ${part} are for.

## Reading

See [the ${next}](../${next}/index.md) and [the history](history.md).

## Writing

Entries are numbered from one.
`;

function files(): Record<string, string> {
  const parts = PARTS.flatMap((part, index) => {
    const next = PARTS[(index + 1) % PARTS.length] ?? part;
    return [
      [`src/${part}/${part}.ts`, source(part)],
      [`docs/${part}/index.md`, page(part, next)],
    ];
  });
  return { 'README.md': page('sample', PARTS[0] ?? ''), ...Object.fromEntries(parts) };
}

/** Makes a git repository with a little code, pages and one commit, in place of what is there. */
export async function makeSampleRepo(dir: string, env: Record<string, string>): Promise<void> {
  await rm(dir, { recursive: true, force: true });
  for (const [path, text] of Object.entries(files())) {
    await mkdir(dirname(join(dir, path)), { recursive: true });
    await writeFile(join(dir, path), text);
  }
  const git = (...args: string[]) => run('git', args, { cwd: dir, env: { ...env, ...IDENTITY, ...COMMITTER } });
  await git('init', '-q', '-b', 'main');
  await git('add', '--all');
  await git('commit', '-q', '-m', 'First commit');
}
