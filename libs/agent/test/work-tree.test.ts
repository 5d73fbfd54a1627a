import { statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { AgentBench } from './agent-bench.ts';

const FILES = { 'README.md': '# Shop\n', 'src/list.txt': 'one\n', 'src/deep/a.txt': 'a\n', '.gitignore': 'cache/\n' };
const ALLOW_ALL = { read: 'allow', edit: 'allow', execute: 'allow', fetch: 'allow', other: 'allow' } as const;
const ANALYZED = { verdict: { outcome: 'analyzed', result: { summary: 'Nothing.' } } };

let bench: AgentBench;
beforeEach(async () => {
  bench = await AgentBench.open(FILES);
});
afterEach(() => bench.close());

const TREE = 'work/tasks/1/tree';
const inode = (path: string) => statSync(join(bench.dir, TREE, path)).ino;

/** Runs a task whose agent runs a command in the work tree. @returns what the command printed. */
async function inTree(command: string): Promise<string> {
  const printed = join(bench.dir, 'printed');
  const script = { turns: [[{ run: { command: `(${command}) > ${printed} 2>&1` } }, ANALYZED]] };
  const { verdict } = await bench.run(bench.task('analyze'), script, { policy: ALLOW_ALL });
  expect(verdict).toMatchObject({ outcome: 'analyzed' });
  return bench.read('printed');
}

const STATE =
  'find . -path ./.git -prune -o -print | LC_ALL=C sort; cat src/list.txt; git status --porcelain --ignored';

describe('the work tree of the next task in a slot', () => {
  test.each([
    [
      'a changed file with its old size and times',
      'touch -r src/list.txt t; echo two > src/list.txt; touch -r t src/list.txt; rm t',
    ],
    ['new, ignored and empty folders', 'mkdir -p cache/x empty/deep; echo 1 > cache/x/y; echo 2 > new.txt'],
    ['a repository inside a folder of the repository', 'git init -q src/deep; git init -q other; touch other/f'],
    [
      'a folder that became a symbolic link',
      'mkdir /tmp/pipeline-$$; mv src /tmp/pipeline-$$/; ln -s /tmp/pipeline-$$/src src',
    ],
    ['a file that became a folder', 'rm README.md; mkdir README.md; touch README.md/x'],
    ['a removed folder', 'rm -r src'],
    ['another mode', 'chmod 755 src/list.txt; chmod 000 src/deep'],
    ['locks and a broken index', 'touch .git/index.lock ../index.lock; echo x > ../index'],
    [
      'a changed ignore rule and a sparse checkout',
      'echo "*" > .gitignore; git update-index --skip-worktree src/list.txt; rm src/list.txt',
    ],
  ])('contains nothing of %s', async (_name, damage) => {
    const before = await inTree(STATE);
    await inTree(damage);
    expect(await inTree(STATE)).toBe(before);
  });

  test('does not follow a symbolic link of the repository to a large folder', async () => {
    await bench.person('checkout', '-q', 'main');
    symlinkSync('/', join(bench.dir, 'person/root'));
    await bench.commit('Link', {});
    await inTree('echo two > src/list.txt');
    const kept = inode('README.md');
    expect(await inTree('cat src/list.txt')).toBe('one\n');
    expect(inode('README.md')).toBe(kept);
  });

  test('keeps the files that have not changed and takes those that the host has now', async () => {
    await inTree('echo two > src/list.txt');
    const kept = inode('README.md');
    await bench.commit('Three', { 'src/list.txt': 'three\n' });
    expect(await inTree('cat src/list.txt')).toContain('three');
    expect(inode('README.md')).toBe(kept);
  });

  test('submits a change of the same size that was made at once', async () => {
    const submitted = { verdict: { outcome: 'submitted', result: { title: 'Two', body: 'Two.' } } };
    const script = { turns: [[{ edit: { path: 'src/list.txt', text: 'two\n' } }, submitted]] };
    const { verdict } = await bench.run(bench.task('develop'), script);
    expect(verdict).toMatchObject({ outcome: 'submitted', result: { changedFiles: ['src/list.txt'] } });
    expect(await bench.hostFile('svc/issue-7', 'src/list.txt')).toBe('two\n');
  });
});
