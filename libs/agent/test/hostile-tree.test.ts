/** Attacks of an agent on the worker that reads its files. Each runs in every box of this machine. */

import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { AGENTS, agentOf } from '../src/agents/presets.ts';
import { Mirror } from '../src/git/mirror.ts';
import type { Sandbox } from '../src/sandbox/sandbox.ts';
import { AgentBench, BOXES } from './agent-bench.ts';

const run = promisify(execFile);
const ENV = { PATH: process.env.PATH ?? '' };

let bench: AgentBench;
beforeEach(async () => {
  bench = await AgentBench.open({ 'README.md': '# Shop\n', 'data/list.txt': 'one\n' });
  await mkdir(join(bench.dir, 'outside'));
  await writeFile(join(bench.dir, 'outside/list.txt'), 'SECRET of the machine\n');
});
afterEach(() => bench.close());

/** Waits until a process in the background has left the process group of its terminal. */
const UP = 'while ! [ -e .git/up ]; do :; done';
const SUBMITTED = { verdict: { outcome: 'submitted', result: { title: 'Add two', body: 'As planned.' } } };
const REPLAN = { verdict: { outcome: 'replan', result: { reason: 'Later.' } } };
const ALLOW_ALL = { read: 'allow', edit: 'allow', execute: 'allow', fetch: 'allow', other: 'allow' } as const;

describe.each(BOXES)('in the box $name', ({ box: sandbox }) => {
  const options = { sandbox: sandbox as Sandbox, policy: ALLOW_ALL };
  const develop = (steps: Parameters<AgentBench['run']>[1]) => bench.run(bench.task('develop'), steps, options);
  const committed = () => bench.hostGit('log', '-1', '-p', '--format=%s', 'svc/issue-7');

  test('a process that waits for git to read a folder exchanges nothing in the commit', async () => {
    // Git waits for the named pipe, before it reads the files.
    const swap = `touch .git/up; exec 3> data/.gitignore; echo late > README.md; mv data gone; ln -s ${bench.dir}/outside data`;
    const { verdict } = await develop({
      turns: [
        [
          {
            run: {
              command: `echo two > data/list.txt; mkfifo data/.gitignore; (setsid sh -c '${swap}' > /dev/null 2>&1 &); ${UP}`,
            },
          },
          SUBMITTED,
        ],
      ],
    });
    expect(verdict).toMatchObject({ outcome: 'submitted' });
    expect(await committed()).toMatch(/^\+two$/m);
    expect(await committed()).not.toMatch(/SECRET|late|outside/);
  });

  test('a process that left its session changes nothing of the next task', async () => {
    const writer = 'touch .git/up; while :; do echo evil > "$TREE/evil.txt"; done';
    const first = await develop({
      turns: [
        [{ run: { command: `(TREE=$(pwd) setsid setsid sh -c '${writer}' > /dev/null 2>&1 &); ${UP}` } }, REPLAN],
      ],
    });
    expect(first.verdict).toMatchObject({ outcome: 'replan' });
    const { verdict } = await develop({
      turns: [[{ run: { command: 'echo two > data/list.txt; sleep 0.2; ls' } }, SUBMITTED]],
    });
    expect(verdict).toMatchObject({ outcome: 'submitted', result: { changedFiles: ['data/list.txt'] } });
  });

  test('named pipes in place of files stop neither the commit nor a read', async () => {
    const { verdict, texts } = await develop({
      turns: [
        [
          {
            run: {
              command: 'rm README.md; mkfifo README.md .gitignore .gitattributes data/pipe; echo two > data/list.txt',
            },
          },
          { read: { path: 'data/pipe' } },
          SUBMITTED,
        ],
      ],
    });
    expect(texts.join('\n')).toMatch(/refused: Invalid params: \S+data\/pipe cannot be used: it is no regular file/);
    expect(verdict).toMatchObject({ outcome: 'submitted', result: { changedFiles: ['README.md', 'data/list.txt'] } });
  });

  test('no filter is run of a repository that an agent puts in the place of a submodule', async () => {
    const sha = (await bench.person('rev-parse', 'HEAD')).trim();
    await bench.person('update-index', '--add', '--cacheinfo', `160000,${sha},lib/sub`);
    await bench.person('commit', '-q', '-m', 'sub');
    await bench.person('push', '-q', 'origin', 'HEAD:main');
    const nest = [
      'T=$(pwd); mkdir -p lib/sub; cd lib/sub; git init -q .',
      '(echo $T/.git/objects; cat $T/.git/objects/info/alternates) > .git/objects/info/alternates',
      `echo ${sha} > .git/HEAD; git read-tree HEAD; echo hello > README.md`,
      "mkdir -p .git/info; echo '* filter=x' > .git/info/attributes",
      'git config filter.x.clean "touch $(dirname $T)/store/ran; cat"; echo two > $T/data/list.txt',
    ].join('\n');
    const { verdict } = await develop({ turns: [[{ run: { command: nest } }, SUBMITTED], [SUBMITTED]] });
    expect(verdict).toMatchObject({ outcome: 'submitted', result: { changedFiles: ['data/list.txt'] } });
    const { stdout } = await run('find', [bench.dir, '-name', 'ran']);
    expect(stdout).toBe('');
  });

  test('a filter in the git configuration of the machine is not run', async () => {
    const marker = join(bench.dir, 'filtered');
    await writeFile(
      join(bench.dir, '.gitconfig'),
      `[filter "x"]\n\tclean = touch ${marker}\n\tsmudge = touch ${marker}\n`,
    );
    await bench.commit('Filter', { '.gitattributes': '* filter=x\n' });
    const { verdict } = await develop({ turns: [[{ edit: { path: 'data/list.txt', text: 'two\n' } }, SUBMITTED]] });
    expect(verdict).toMatchObject({ outcome: 'submitted' });
    expect(existsSync(marker)).toBe(false);
    expect(await bench.hostFile('svc/issue-7', 'data/list.txt')).toBe('two\n');
  });

  test('the settings of the operator are out of reach, and each task begins with an empty home folder', async () => {
    await mkdir(join(bench.dir, '.claude'));
    await writeFile(join(bench.dir, '.claude/settings.json'), '{}');
    const look =
      'ls -A "$HOME"; echo "home $HOME"; mkdir -p "$HOME/.claude"; echo hooks > "$HOME/.claude/settings.json"';
    const first = await develop({ turns: [[{ run: { command: look } }, REPLAN]] });
    const second = await develop({ turns: [[{ run: { command: look } }, REPLAN]] });
    for (const { texts } of [first, second]) expect(texts.join('\n')).toMatch(/exit 0\nhome /);
    expect(second.texts.join('\n')).not.toContain(`home ${bench.dir}\n`);
    expect(readFileSync(join(bench.dir, '.claude/settings.json'), 'utf8')).toBe('{}');
  });
});

describe.each(BOXES)('the login of the operator in the box $name', ({ box: sandbox }) => {
  test('the login of the operator is not written through a link that the setup command left', async () => {
    await mkdir(join(bench.dir, '.claude'));
    await writeFile(join(bench.dir, '.claude/.credentials.json'), 'of the operator\n');
    const setupCommand = 'mkdir shown; ln -s "$PWD/shown" "$HOME/.claude"';
    const repo = { ...bench.task('develop').payload.repo, setupCommand };
    const command = 'cat "$HOME/.claude/.credentials.json"; echo two > data/list.txt';
    const script = { turns: [[{ run: { command } }, SUBMITTED]] };
    const agent = { ...agentOf(await bench.agent(script)), login: AGENTS.claude.login };
    const route = () => ({ agent, model: null, mode: null });
    const { verdict, texts } = await bench.run(bench.task('develop', { repo }), script, {
      sandbox: sandbox as Sandbox,
      policy: ALLOW_ALL,
      route,
    });
    expect(texts.join('\n')).toContain('of the operator');
    expect(verdict).toMatchObject({ outcome: 'submitted', result: { changedFiles: ['data/list.txt'] } });
  });
});

describe('receiving a pack from a box', () => {
  const packOf = async (make: string) => {
    const folder = join(bench.dir, 'made');
    const script = `git init -q ${folder} && cd ${folder} && ${make}`;
    const { stdout } = await run('/bin/sh', ['-euc', script], { encoding: 'buffer' });
    const mirror = new Mirror({ folder: bench.dir, slug: 'acme/shop', cloneUrl: bench.host, depth: 50, env: ENV });
    await mirror.fetch(['main'], { credentials: null, signal: bench.stop.signal });
    return { mirror, received: mirror.receive(Readable.from([stdout])) };
  };
  const pack = '| git pack-objects -q --stdout';

  test('adds it to the mirror when its objects are whole', async () => {
    const { mirror, received } = await packOf(`id=$(echo x | git hash-object -w --stdin); echo $id ${pack}`);
    await received;
    expect(await mirror.git(['cat-file', 'blob', '587be6b4c3f93f93c489c0111bba5596147a26cb'])).toBe('x\n');
  });

  test.each([
    ['a file in .git', `tree=$(printf '100644 .git\\0aaaaaaaaaaaaaaaaaaaa'`],
    ['a folder above', `tree=$(printf '40000 ..\\0aaaaaaaaaaaaaaaaaaaa'`],
    ['an object that is missing', `tree=$(printf '100644 a\\0aaaaaaaaaaaaaaaaaaaa'`],
  ])('throws for %s', async (_, tree) => {
    const { received } = await packOf(`${tree} | git hash-object -t tree -w --literally --stdin); echo $tree ${pack}`);
    await expect(received).rejects.toThrow('the files were refused');
  });
});
