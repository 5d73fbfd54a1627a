import { statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { until } from '@pipeline/testing/until';
import { Mirror } from '../src/git/mirror.ts';
import { git } from '../src/git/run-git.ts';
import { startingPoint } from '../src/git/starting-point.ts';
import { taskFolders } from '../src/git/tree-folders.ts';
import { WorkTree } from '../src/git/work-tree.ts';
import { noSandbox } from '../src/sandbox/choose-sandbox.ts';
import type { AgentHandlerOptions } from '../src/tasks/handler.ts';
import { AgentBench, BUBBLEWRAP } from './agent-bench.ts';

const FILES = { 'README.md': '# Shop\n', 'src/list.txt': 'one\n', 'src/deep/a.txt': 'a\n', '.gitignore': 'cache/\n' };
const ALLOW_ALL = { read: 'allow', edit: 'allow', execute: 'allow', fetch: 'allow', other: 'allow' } as const;
const ANALYZED = { verdict: { outcome: 'analyzed', result: { summary: 'Nothing.' } } };

let bench: AgentBench;
beforeEach(async () => {
  bench = await AgentBench.open(FILES);
});
afterEach(() => bench.close());

const uid = BUBBLEWRAP?.user?.uid ?? process.getuid?.();
const inode = (path: string) => statSync(join(bench.dir, `work/tasks/1/user-${uid}/tree`, path)).ino;
/** Files are kept where agents do not reach their index. */
const confined = BUBBLEWRAP === null ? {} : { sandbox: BUBBLEWRAP };
const whenConfined = BUBBLEWRAP === null ? test.skip : test;

/** Runs a task whose agent runs a command in the work tree. @returns what the command printed. */
async function inTree(command: string, options: Partial<AgentHandlerOptions> = {}): Promise<string> {
  const script = { turns: [[{ run: { command: `(${command}) 2>&1` } }, ANALYZED]] };
  const { verdict, texts } = await bench.run(bench.task('analyze'), script, { policy: ALLOW_ALL, ...options });
  expect(verdict).toMatchObject({ outcome: 'analyzed' });
  return (
    texts
      .find((text) => text.startsWith('exit '))
      ?.replace(/^exit \d+\n/, '')
      .replace(/```json[\s\S]*$/, '') ?? ''
  );
}

const STATE =
  'find . -path ./.git -prune -o -print | LC_ALL=C sort; cat src/list.txt; git status --porcelain --ignored';

const CLEAN = `.
./.gitignore
./README.md
./src
./src/deep
./src/deep/a.txt
./src/list.txt
one
`;

describe('the work tree of the next task in a slot', () => {
  test.each([
    [
      'changed, new and ignored files, locks, modes and repositories inside folders',
      [
        'touch -r src/list.txt t; echo two > src/list.txt; touch -r t src/list.txt; rm t', // the old size and times
        'mkdir -p cache/x empty/deep; echo 1 > cache/x/y; echo 2 > new.txt',
        'git init -q src/deep; git init -q other; touch other/f',
        'rm README.md; mkdir README.md; touch README.md/x',
        'touch .git/index.lock ../store/index.lock; echo x > ../store/index',
        'chmod 755 src/list.txt; chmod 000 src/deep',
      ],
    ],
    [
      'a changed ignore rule, a sparse checkout and a folder that became a symbolic link',
      [
        'echo "*" > .gitignore; git update-index --skip-worktree src/list.txt',
        'mkdir /tmp/pipeline-$$; mv src /tmp/pipeline-$$/; ln -s /tmp/pipeline-$$/src src',
      ],
    ],
    ['a removed folder', ['rm -r src']],
  ])('contains nothing of %s', async (_name, damages) => {
    for (const options of [{}, confined]) {
      await inTree(damages.join('; '), options);
      expect(await inTree(STATE, options)).toBe(CLEAN);
    }
  });

  whenConfined('does not follow a symbolic link of the repository to a large folder', async () => {
    await bench.person('checkout', '-q', 'main');
    symlinkSync('/', join(bench.dir, 'person/root'));
    await bench.commit('Link', {});
    await inTree('echo two > src/list.txt', confined);
    const kept = inode('README.md');
    expect(await inTree('cat src/list.txt', confined)).toBe('one\n');
    expect(inode('README.md')).toBe(kept);
  });

  whenConfined('keeps the files that have not changed and takes those that the host has now', async () => {
    await inTree('echo two > src/list.txt', confined);
    const kept = inode('README.md');
    await bench.commit('Three', { 'src/list.txt': 'three\n' });
    expect(await inTree('cat src/list.txt', confined)).toContain('three');
    expect(inode('README.md')).toBe(kept);
  });

  test('commits a change of the same size in the second of the checkout when that second is over', async () => {
    const env = { PATH: process.env.PATH ?? '', HOME: bench.dir };
    const mirror = new Mirror({ folder: bench.dir, slug: 'acme/shop', cloneUrl: bench.host, depth: 50, env });
    const start = await startingPoint(bench.task('develop'), mirror, { credentials: null, signal: bench.stop.signal });
    const identity = { name: 'Bot', email: 'bot@localhost' };
    const sandbox = noSandbox(null);
    const folders = await taskFolders(join(bench.dir, 'task'), sandbox);
    const place = { mirror, folders, sandbox, env, signal: bench.stop.signal };
    const second = () => Math.floor(statSync(join(folders.tree, 'src/list.txt')).mtimeMs / 1000);
    const edited = async (): Promise<WorkTree> => {
      const tree = await WorkTree.create({ ...place, start, identity });
      const before = second();
      writeFileSync(join(tree.dir, 'src/list.txt'), 'two\n');
      return second() === before ? tree : edited();
    };
    const tree = await edited();
    await until('the second of the checkout is over', () => Date.now() >= (second() + 1) * 1000);
    expect(await tree.commit(await tree.stored(), 'Two')).toMatchObject({ changedFiles: ['src/list.txt'] });
    expect(await git(['status', '--porcelain'], { cwd: tree.dir, env })).toBe(' M src/list.txt\n');
  });
});
