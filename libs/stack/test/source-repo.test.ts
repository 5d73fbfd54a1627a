import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { demoIssues } from '../src/demo/index.ts';
import { makeSampleRepo } from '../src/repos/sample-repo.ts';
import { chooseRepos, filesOf, gitEnv, type SourceOptions } from '../src/repos/source-repo.ts';

const run = promisify(execFile);
const searchPath = process.env.PATH ?? '';
const env = gitEnv(searchPath);

let dir: string;
let said: string[];
beforeEach(async () => {
  dir = await realpath(await mkdtemp(join(tmpdir(), 'pipeline-source-')));
  said = [];
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const choose = (more: Partial<SourceOptions> = {}) =>
  chooseRepos({
    path: undefined,
    root: join(dir, 'project'),
    dataDir: join(dir, 'data'),
    known: [],
    searchPath,
    say: (message) => said.push(message),
    ...more,
  });

test('the first start serves this project', async () => {
  await makeSampleRepo(join(dir, 'project'), env);
  expect(await choose()).toEqual([{ slug: 'demo/pipeline', source: join(dir, 'project') }]);
});

test('makes a sample where this project is no checkout, and reports that', async () => {
  // A folder of somebody else's repository.
  await makeSampleRepo(dir, env);
  await mkdir(join(dir, 'project'));
  const [repo] = await choose();
  expect(repo).toEqual({ slug: 'demo/sample', source: join(dir, 'data/source/sample') });
  expect(said.join()).toContain('not a git checkout');
  expect(demoIssues(await filesOf(repo?.source ?? '', searchPath))).toHaveLength(30);
});

test('later starts serve the same, and add the requested one', async () => {
  const known = [{ slug: 'demo/shop', source: '/srv/shop' }];
  expect(await choose({ known })).toEqual(known);
  await makeSampleRepo(join(dir, 'a b', 'shop'), env);
  const source = join(dir, 'a b', 'shop');
  const both = [...known, { slug: 'demo/shop-2', source }];
  expect(await choose({ known, path: join(source, 'src') })).toEqual(both);
  expect(await choose({ known: both, path: source })).toEqual(both);
});

test('a bare repository is served as it is', async () => {
  await makeSampleRepo(join(dir, 'work'), env);
  const bare = join(dir, 'my shop.git');
  await run('git', ['clone', '-q', '--bare', join(dir, 'work'), bare], { env });
  expect(await choose({ path: bare })).toEqual([{ slug: 'demo/my-shop', source: bare }]);
});

test('a path without a repository, or without a commit, is refused by name', async () => {
  await expect(choose({ path: join(dir, 'nowhere') })).rejects.toThrow(`--repo ${join(dir, 'nowhere')}`);
  await run('git', ['init', '-q', join(dir, 'empty')], { env });
  await expect(choose({ path: join(dir, 'empty') })).rejects.toThrow('not a git repository with a commit');
});

test('reports that git is missing when it is not installed', async () => {
  await mkdir(join(dir, 'project'));
  await expect(choose({ searchPath: '/nonexistent' })).rejects.toThrow('git was not found');
});
