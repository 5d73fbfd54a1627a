import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ANNA, BOT, createSandboxEnvironment, makeSource, openIssue, REPO } from '@pipeline/testing/sandbox';
import { createGitHubHost } from '@pipeline/vcs/github';
import { startSandbox } from '../src/index.ts';

let dir: string;
let source: string;
const running = new Set<ChildProcess>();
beforeAll(async () => {
  dir = mkdtempSync(path.join(tmpdir(), 'sandbox-kill-'));
  source = await makeSource(dir);
});
afterAll(() => {
  for (const child of running) child.kill('SIGKILL');
  rmSync(dir, { recursive: true, force: true });
});

const MAIN = new URL('../src/main.ts', import.meta.url).pathname;

async function launch(dataDir: string): Promise<{ child: ChildProcess; url: string }> {
  const collaborators = { [BOT.login]: 'admin' };
  const child = spawn(process.execPath, [MAIN, '--data-dir', dataDir], {
    env: {
      PATH: process.env.PATH,
      SANDBOX_TOKENS: JSON.stringify([BOT, ANNA]),
      SANDBOX_REPOS: JSON.stringify([{ slug: 'acme/shop', source, collaborators }]),
    },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  running.add(child);
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream });
  const [line] = await once(lines, 'line');
  return { child, url: JSON.parse(String(line)).url };
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  const gone = once(child, 'exit');
  child.kill(signal);
  await gone;
  running.delete(child);
  return child.exitCode;
}

test('kill -9 amid writes loses nothing that was answered and hands no number out twice', async () => {
  const dataDir = path.join(dir, 'killed');
  const answered: number[] = [];
  for (let round = 0; round < 2; round += 1) {
    const { child, url } = await launch(dataDir);
    const write = async () => {
      for (;;) {
        const headers = { authorization: `Bearer ${ANNA.token}`, 'content-type': 'application/json' };
        const body = JSON.stringify({ title: 'written' });
        const response = await fetch(`${url}/repos/acme/shop/issues`, { method: 'POST', headers, body }).catch(
          () => null,
        );
        const issue = (await response?.json().catch(() => null)) as { number: number } | null | undefined;
        if (!issue) return;
        answered.push(issue.number);
        if (answered.length === 25 * (round + 1)) await end(child, 'SIGKILL');
      }
    };
    await Promise.all([write(), write(), write()]);
  }
  const { child, url } = await launch(dataDir);
  const host = createGitHubHost({
    baseUrl: url,
    token: BOT.token,
    clientType: 'sandbox',
    now: () => new Date(),
    userAgent: 't',
  });
  const stored = (await host.listIssues(REPO, { state: 'all' }))?.issues.map((issue) => issue.number) ?? [];
  expect(new Set(answered).size).toBe(answered.length);
  expect(stored).toEqual(expect.arrayContaining(answered));
  expect(await end(child, 'SIGTERM')).toBe(0);
});

test('keeps its data in a folder that only its owner can enter', async () => {
  const data = path.join(dir, 'wide');
  mkdirSync(data);
  writeFileSync(path.join(data, 'sandbox.db'), '', { mode: 0o644 });
  chmodSync(data, 0o755);
  const sandbox = await startSandbox({ dataDir: data });
  const modeOf = (name: string) => statSync(path.join(data, name)).mode & 0o777;
  expect(['.', 'git', 'sandbox.db', 'sandbox.db-wal'].map(modeOf)).toEqual([0o700, 0o700, 0o600, 0o600]);
  await sandbox.stop();
});

test('a restart goes on with the same data; a second process on it is refused', async () => {
  const environment = await createSandboxEnvironment();
  const number = await openIssue(environment, 'Kept');
  await environment.push('kept', 'kept.txt', 'x\n');
  await environment.restart();
  expect(await environment.host.getIssue(REPO, number)).toMatchObject({ title: 'Kept', author: 'anna' });
  expect(await openIssue(environment)).toBe(number + 1);
  expect(await environment.push('kept', 'more.txt', 'y\n')).toMatch(/^[0-9a-f]{40}$/);
  await expect(startSandbox({ dataDir: path.join(environment.dir, 'data') })).rejects.toThrow(/locked/);
  await environment.end();
});

test('a merge that was cut between git and the record is settled at the next start', async () => {
  const environment = await createSandboxEnvironment();
  const head = await environment.push('work', 'work.txt', 'x\n');
  const create = {
    type: 'createPR',
    head: 'work',
    base: 'main',
    title: 't',
    body: 'b',
    draft: false,
    marker: 'm',
  } as const;
  await environment.execute(create);
  await environment.sandbox.stop();
  // What a kill right after the branch moved leaves: the intention is stored, the branch has the commit.
  const { State } = await import('../src/state/state.ts');
  const state = new State(path.join(environment.dir, 'data', 'sandbox.db'));
  const [repo] = state.list('repo', 0);
  const issue = state.get('issue', repo?.id ?? 0, 1);
  if (!repo || !issue?.pull) throw new Error('no pull request');
  state.put('issue', repo.id, { ...issue, pull: { ...issue.pull, merging: { sha: head, by: BOT.login } } }, { id: 1 });
  state.close();
  await environment.git(
    ['update-ref', 'refs/heads/main', head],
    path.join(environment.dir, 'data', 'git', `${repo.id}.git`),
  );
  await environment.restart();
  expect(await environment.host.getPullRequest(REPO, 1)).toMatchObject({ merged: true, mergeCommitSha: head });
  await environment.end();
});
