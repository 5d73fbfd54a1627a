/** pipeline-agent with a scripted agent, against the services, the sandbox host and Postgres, each as its own process. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { ensureTenant, insertWorkerToken } from '@pipeline/store';
import { testDatabase } from '@pipeline/testing';
import { installedPackage } from '@pipeline/testing/installed-package';
import type { ScriptInput } from '@pipeline/testing/scripted-agent';
import { until } from '@pipeline/testing/until';
import { type AgentWorker, startAgentWorker } from './replicas/agent-worker.ts';
import { BOT, type Host, SECRET, SLUG, startHost } from './replicas/host.ts';
import { type Service, startService } from './replicas/service.ts';

const TOKEN = `wrk_at_${'a'.repeat(43)}`;
const CONFIG = `
agents: {}
repos: [{slug: ${SLUG}, vcs: sandbox, branch: main, checks: none}]
pollIntervals: {sprintMaster: 2, monitor: 1}
`;
const WITHIN_MS = 170_000;

const folder = mkdtempSync(join(tmpdir(), 'agent-e2e-'));
const services: Service[] = [];
let host: Host;
let api: Service;
let worker: AgentWorker | undefined;

afterEach(() => worker?.kill());
afterAll(async () => {
  await Promise.all(services.map((service) => service.kill()));
  await host?.stop();
  rmSync(folder, { recursive: true, force: true });
});
const database = testDatabase();

let installed: string;

beforeAll(async () => {
  // First: it blocks this process for longer than idle connections live.
  installed = join(installedPackage('agent', folder), 'node_modules/.bin/pipeline-agent');
  host = await startHost();
  writeFileSync(join(folder, 'pipeline.yaml'), CONFIG);
  const tenantId = await ensureTenant(database.store.tenant, 'default');
  const tokenHash = createHash('sha256').update(TOKEN).digest('hex');
  await insertWorkerToken(database.store.tenant, { tenantId, name: 'agent', tokenHash, repoIds: null });
  const common = { DATABASE_URL: database.url, DATABASE_POOL_SIZE: '4' };
  api = await startService('hosted-api', { ...common, GITHUB_WEBHOOK_SECRET: SECRET });
  host.hooks.push(api.url);
  const config = { PIPELINE_CONFIG: join(folder, 'pipeline.yaml') };
  const sandbox = { SANDBOX_URL: host.sandbox.url, SANDBOX_TOKEN: BOT.token };
  services.push(api, await startService('monitor', { ...common, ...config, ...sandbox }));
});

/** Starts pipeline-agent with a script. */
function startAgent(script: ScriptInput, name: string, program: readonly [string, ...string[]]): AgentWorker {
  const path = join(folder, `${name}.json`);
  writeFileSync(path, JSON.stringify(script));
  worker = startAgentWorker({ server: api.url, token: TOKEN, name, script: path, folder, program });
  return worker;
}

const verdict = (outcome: string, result: object = {}) => ({ verdict: { outcome, result } });
const openIssue = async (title: string): Promise<number> =>
  (await host.api<{ number: number }>('POST', `/repos/${SLUG}/issues`, { title, labels: ['svc:enqueue'] })).number;

const stateOf = async (number: number): Promise<string | undefined> =>
  (await database.db.selectFrom('issues').select('state').where('issue_number', '=', number).executeTakeFirst())?.state;

/** Returns a script that writes a file. */
const writing = (path: string): ScriptInput => ({
  tasks: {
    analyze: [[{ usage: { inputTokens: 5_000, outputTokens: 500, costUsd: 0.01 } }, verdict('analyzed')]],
    plan: [[verdict('planned', { plan: 'Write the file.', plannedFiles: [path] })]],
    develop: [
      [
        { think: 'A list is needed.' },
        { plan: [{ content: 'Write the list', status: 'in_progress' }] },
        { write: { path, text: '# List\n' } },
        { tool: { title: 'Run tests', kind: 'execute', input: { command: 'true' }, output: 'ok', ask: true } },
        { usage: { inputTokens: 100_000, outputTokens: 10_000, costUsd: 0.25 } },
        { say: 'The list is written.\n' },
        verdict('submitted', { title: 'Add the list', body: 'As planned.' }),
      ],
    ],
    review: [[{ read: { path } }, { say: 'Good.\n' }, verdict('approved', { body: 'Fine.' })]],
    retrospect: [[verdict('retrospective', { outcomeClassification: 'success', summary: 'Merged at once.' })]],
  },
});

/** Waits until an issue is done. @throws Error with the output of the worker */
async function done(number: number, output: () => string): Promise<void> {
  try {
    await until('the issue is done', async () => (await stateOf(number)) === 'done', WITHIN_MS);
  } catch (error) {
    throw new Error(output().slice(-8_000), { cause: error });
  }
}

test('npx in a checkout moves an issue to a merge on the host with a scripted agent, with its transcript and costs', async () => {
  const { output } = startAgent(writing('docs/list.md'), 'agent-1', ['npx', '--no-install', 'pipeline-agent']);
  const number = await openIssue('A list of all things');
  await done(number, output);
  const [pull] = await host.api<{ title: string; merged_at: string | null; user: { login: string } }[]>(
    'GET',
    `/repos/${SLUG}/pulls?state=closed`,
  );
  expect(pull).toMatchObject({ title: 'Add the list', merged_at: expect.any(String) });
  const clone = join(folder, 'clone');
  // The host runs in this process.
  await promisify(execFile)('git', [
    'clone',
    '-q',
    `${host.sandbox.url.replace('//', `//x:${BOT.token}@`)}/${SLUG}.git`,
    clone,
  ]);
  expect(readFileSync(join(clone, 'docs/list.md'), 'utf8')).toBe('# List\n');
  const { db } = database;
  const messages = await db.selectFrom('agent_messages').select(['role', 'subtype', 'content']).execute();
  expect(messages).toContainEqual({ role: 'assistant', subtype: 'thinking', content: 'A list is needed.' });
  expect(messages).toContainEqual(expect.objectContaining({ subtype: 'tool_use', content: 'Run tests' }));
  expect(messages).toContainEqual(
    expect.objectContaining({ role: 'user', content: expect.stringContaining('## Verdict') }),
  );
  const issue = await db
    .selectFrom('issues')
    .select('cost_usd')
    .where('issue_number', '=', number)
    .executeTakeFirstOrThrow();
  expect(Number(issue.cost_usd)).toBeCloseTo(0.26);
  expect(output()).not.toContain(BOT.token);
});

// The command of docs/agents.md: npm run -s tarball -- agent
test('the package installed from its tarball moves an issue to a merge', async () => {
  const { output } = startAgent(writing('docs/other.md'), 'agent-2', [installed]);
  await done(await openIssue('Another list'), output);
});
