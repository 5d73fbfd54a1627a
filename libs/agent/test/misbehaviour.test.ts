import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { until } from '@pipeline/testing/until';
import { agentOf } from '../src/agents/presets.ts';
import { AgentBench, SCRIPTS } from './agent-bench.ts';

let bench: AgentBench;
beforeEach(async () => {
  bench = await AgentBench.open();
});
afterEach(() => bench.close());

const APPROVED = { verdict: { outcome: 'approved', result: {} } };
const review = async () => {
  const headSha = await bench.commit('Change', { 'a.txt': 'a\n' }, 'svc/issue-7');
  return bench.task('review', { pr: { number: 1, url: '', headSha, headRef: 'svc/issue-7', title: 'T', body: '' } });
};
const limits = { maxTurns: null, budgetUsd: null, timeMs: 30_000 };
/** Scripted agents of this file. */
async function leftovers(): Promise<string> {
  const child = spawn('pgrep', ['-f', `scripted-agent/main.ts ${SCRIPTS}`], { stdio: ['ignore', 'pipe', 'inherit'] });
  let out = '';
  child.stdout.on('data', (chunk) => {
    out += chunk;
  });
  await once(child, 'close');
  return out;
}

describe('the verdict', () => {
  test('an invalid verdict is requested again with the problem', async () => {
    const { verdict, texts } = await bench.run(await review(), {
      turns: [
        [{ say: 'Looks fine to me.' }],
        [{ verdict: { outcome: 'merged', result: {} } }],
        [{ verdict: { outcome: 'needs-human', result: {} } }],
        [APPROVED],
      ],
    });
    expect(verdict).toMatchObject({ kind: 'outcome', outcome: 'approved' });
    const asked = texts.filter((text) => text.startsWith('The pipeline could not use your last message'));
    expect(asked).toEqual([
      expect.stringContaining('no JSON object'),
      expect.stringContaining('"merged" is not one of: approved, changes-requested, needs-human'),
      expect.stringMatching(/"needs-human" is not valid[\s\S]*reason/),
    ]);
  });

  test('a verdict that stays invalid is a failure', async () => {
    const { verdict, records } = await bench.run(await review(), { turns: [[{ say: '{"outcome":' }]] });
    expect(verdict).toMatchObject({
      kind: 'failure',
      errorClass: 'transient',
      errorMessage: expect.stringContaining('no valid verdict in 4 turns'),
    });
    expect(records.at(-1)).toMatchObject({ type: 'invocation', stopReason: 'no_progress' });
  });
});

describe('limits', () => {
  test('an agent that never ends and ignores signals is killed at the time limit', async () => {
    const { verdict } = await bench.run(
      await review(),
      { turns: [[{ ignoreSigterm: true }, { say: 'Working' }, { hang: true }]] },
      { limits: { ...limits, timeMs: 2_000 } },
    );
    expect(verdict).toMatchObject({ kind: 'failure', errorMessage: expect.stringContaining('time limit of 2 s') });
    expect(await leftovers()).toBe('');
  });

  test('an agent over its budget is cancelled and its cost is recorded', async () => {
    const { verdict, records } = await bench.run(
      { ...(await review()), budgetUsd: 0.5 },
      { turns: [[{ usage: { inputTokens: 10, costUsd: 0.75 } }, { pauseMs: 20_000 }, APPROVED]] },
      { limits: { ...limits, budgetUsd: 2 } },
    );
    expect(verdict).toMatchObject({
      kind: 'failure',
      errorClass: 'permanent',
      errorMessage: expect.stringContaining('budget of 0.5 USD was exceeded'),
    });
    expect(records.at(-1)).toMatchObject({ type: 'invocation', costUsd: 0.75, inputTokens: 10 });
  });

  test('an agent over its turns is stopped with max_turns', async () => {
    const step = { tool: { title: 'ls', kind: 'search' as const } };
    const { verdict, records } = await bench.run(
      await review(),
      { turns: [[step, step, step, step, { pauseMs: 20_000 }]] },
      { limits: { ...limits, maxTurns: 3 } },
    );
    expect(verdict).toMatchObject({ kind: 'failure', errorMessage: expect.stringContaining('limit of 3 turns') });
    expect(records.at(-1)).toMatchObject({ type: 'invocation', stopReason: 'max_turns' });
  });

  test('a lost lease stops the agent and nothing is pushed', async () => {
    const started = join(bench.dir, 'started');
    const run = bench.run(bench.task('develop'), {
      turns: [[{ edit: { path: 'a.txt', text: 'a' } }, { run: { command: `touch ${started}` } }, { hang: true }]],
    });
    await until('the agent works', () => existsSync(started));
    bench.stop.abort(new Error('the claim was lost'));
    await expect(run).rejects.toThrow('the claim was lost');
    expect(await leftovers()).toBe('');
    expect(await bench.hostGit('for-each-ref', '--format=%(refname:short)')).toBe('main');
  });
});

describe('an agent that', () => {
  test('requests forbidden paths is refused with the reason', async () => {
    const { verdict, texts } = await bench.run(bench.task('develop'), {
      turns: [
        [
          { read: { path: '/etc/passwd' } },
          { run: { command: 'ln -s /etc link; ln -s / root' } },
          { read: { path: 'link/passwd' } },
          { read: { path: '../../../script-1.json' } },
          { tool: { title: 'Read shadow', kind: 'read', paths: ['/etc/shadow'], ask: true } },
          { tool: { title: 'Edit hooks', kind: 'edit', paths: ['.git/config'], ask: true } },
          { tool: { title: 'Delete', kind: 'execute', input: { command: 'rm -rf ~/data' }, ask: true } },
          { tool: { title: 'Browse', kind: 'fetch', input: { url: 'http://x' }, ask: true } },
          { tool: { title: 'Test', kind: 'execute', input: { command: 'npm test -- src/a' }, ask: true } },
          { run: { command: 'rm link root' } },
          { verdict: { outcome: 'replan', result: { reason: 'r' } } },
        ],
      ],
    });
    expect(verdict).toMatchObject({ outcome: 'replan' });
    const all = texts.join('\n');
    expect(all.match(/refused: Invalid params: \S+ is outside the work tree/g)).toHaveLength(3);
    expect(all).not.toContain('root:');
    for (const title of ['Read shadow', 'Edit hooks', 'Delete', 'Browse']) expect(all).toContain(`Refused: ${title}`);
    expect(all).toContain('Allowed: Test');
  });

  test('writes outside its work tree through the client ends with the error', async () => {
    const { verdict } = await bench.run(bench.task('develop'), {
      turns: [[{ write: { path: '../outside.txt', text: 'x' } }]],
    });
    expect(verdict).toMatchObject({ kind: 'failure', errorMessage: expect.stringContaining('outside the work tree') });
    expect(existsSync(join(bench.dir, 'work/tasks/1/outside.txt'))).toBe(false);
  });

  test('floods its output is recorded up to the limit', async () => {
    const { verdict, texts } = await bench.run(await review(), {
      turns: [[{ flood: { messages: 4_000, chars: 50 } }, APPROVED]],
    });
    expect(verdict).toMatchObject({ outcome: 'approved' });
    expect(texts).toHaveLength(5_001);
    expect(texts.at(-1)).toContain('not kept');
  });

  test('writes lines that are no messages is not disturbed', async () => {
    const { verdict } = await bench.run(await review(), { turns: [[{ raw: 'npm notice\n' }, APPROVED]] });
    expect(verdict).toMatchObject({ outcome: 'approved' });
  });

  test('dies is a failure with its last words', async () => {
    const { verdict } = await bench.run(await review(), { turns: [[{ stderr: 'out of memory' }, { exit: 1 }]] });
    expect(verdict).toMatchObject({
      kind: 'failure',
      errorClass: 'transient',
      errorMessage: expect.stringMatching(/ended by SIGKILL[\s\S]*out of memory/),
    });
  });

  test.each([
    ['has no key', { code: -32_000, message: 'Authentication required' }, 'permanent', /is not authenticated: .*--env/],
    ['has used up its quota', { message: 'Rate limit reached' }, 'quota', /Rate limit reached/],
    ['fails', { message: 'Internal error', data: { errorClass: 'permanent' } }, 'permanent', /Internal error/],
  ])('%s is a failure of the fitting class', async (_, fail, errorClass, message) => {
    const { verdict } = await bench.run(await review(), { turns: [[{ fail }]] });
    expect(verdict).toMatchObject({ kind: 'failure', errorClass, errorMessage: expect.stringMatching(message) });
  });

  test('a program that is not installed fails the task with the way to install it', async () => {
    const agent = { ...agentOf('claude'), command: ['no-such-program'] as const };
    const { verdict } = await bench.run(
      await review(),
      { turns: [[]] },
      { route: () => ({ agent, model: null, mode: null }) },
    );
    expect(verdict).toMatchObject({
      kind: 'failure',
      errorMessage: expect.stringContaining('npm install --global @agentclientprotocol/claude-agent-acp'),
    });
  });

  test('prints its key or the environment is redacted and gets no other secret', async () => {
    const agent = agentOf(
      await bench.agent({ turns: [[{ run: { command: 'env' } }, { say: 'key-1234567890' }, APPROVED]] }),
    );
    const { texts } = await bench.run(
      await review(),
      { turns: [[]] },
      {
        env: { PATH: process.env.PATH ?? '', MODEL_KEY: 'key-1234567890', SECRET_OF_HOST: 'do-not-pass' },
        passedEnv: ['MODEL_KEY'],
        route: () => ({ agent, model: null, mode: null }),
      },
    );
    const all = texts.join('\n');
    expect(all).toContain('[redacted]');
    expect(all).toContain('PATH=');
    for (const secret of ['key-1234567890', 'do-not-pass', 'MODEL_KEY=']) expect(all).not.toContain(secret);
  });
});
