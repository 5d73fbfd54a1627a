/**
 * The adapters of Claude Code and Codex from the package registry, without a key: they start, answer `initialize`, and the
 * missing key is named. They are installed below node_modules/.cache once, and are no dependencies of the workspace.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { agentOf } from '../src/agents/presets.ts';
import { checkAgent } from '../src/check-agent.ts';
import { noSandbox } from '../src/sandbox/choose-sandbox.ts';
import { AgentBench } from './agent-bench.ts';

const ADAPTERS = ['@agentclientprotocol/claude-agent-acp@0.101.0', '@zed-industries/codex-acp@0.16.0'];
const FOLDER = join(
  import.meta.dirname,
  '../../../node_modules/.cache/agent-adapters',
  ADAPTERS.join('+').replace(/[^\w.+-]+/g, '_'),
);
const INSTALL_WITHIN_MS = 300_000;

let missing: string | null = null;
let home = '';
beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'adapters-home-'));
  if (existsSync(join(FOLDER, 'installed'))) return;
  mkdirSync(FOLDER, { recursive: true });
  const npm = [
    'install',
    '--prefix',
    FOLDER,
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
    '--fetch-retries=0',
    ...ADAPTERS,
  ];
  try {
    execFileSync('npm', npm, { stdio: ['ignore', 'ignore', 'pipe'], timeout: INSTALL_WITHIN_MS });
    mkdirSync(join(FOLDER, 'installed'));
  } catch (error) {
    missing = (error as Error).message.split('\n').slice(0, 3).join(' ');
    process.stderr.write(`SKIPPED: the agent adapters could not be installed: ${missing}\n`);
  }
}, INSTALL_WITHIN_MS);
afterAll(() => rmSync(home, { recursive: true }));

const settings = (env: Record<string, string> = {}) => ({
  env: { PATH: [join(FOLDER, 'node_modules/.bin'), process.env.PATH].join(delimiter), HOME: home, ...env },
  passedEnv: [],
  home,
  sandbox: noSandbox(null),
  graceMs: 2_000,
});

test.each([
  ['claude', 'ANTHROPIC_API_KEY'],
  ['codex', 'OPENAI_API_KEY'],
])(
  '%s starts, answers initialize, and its missing key is named as %s',
  async (name, variable) => {
    if (missing !== null) return;
    await expect(checkAgent(agentOf(name), settings())).rejects.toThrow(
      `the agent ${name} is not authenticated: set ${variable}`,
    );
  },
  90_000,
);

test('claude opens a session when a key is set', async () => {
  if (missing !== null) return;
  const found = await checkAgent(agentOf('claude'), settings({ ANTHROPIC_API_KEY: 'sk-ant-of-a-test' }));
  expect(found).toEqual({ name: '@agentclientprotocol/claude-agent-acp', version: '0.101.0', protocolVersion: 1 });
});

test('a task of claude without a key fails permanently with the variable', async () => {
  if (missing !== null) return;
  const bench = await AgentBench.open();
  try {
    const { verdict } = await bench.run(
      bench.task('analyze'),
      { turns: [[]] },
      {
        ...settings(),
        route: () => ({ agent: agentOf('claude'), model: null, mode: 'default' }),
        limits: { maxTurns: 3, budgetUsd: 1, timeMs: 60_000 },
      },
    );
    expect(verdict).toMatchObject({
      kind: 'failure',
      errorClass: 'permanent',
      errorMessage: expect.stringContaining('set ANTHROPIC_API_KEY'),
    });
  } finally {
    await bench.close();
  }
});
