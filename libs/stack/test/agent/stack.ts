/** A stack for pipeline-agent with a scripted agent: the services, the sandbox host and Postgres, each as its own process. */
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll } from '@jest/globals';
import { ensureTenant, insertWorkerToken } from '@pipeline/store';
import { testDatabase } from '@pipeline/testing';
import type { ScriptInput } from '@pipeline/testing/scripted-agent';
import { until } from '@pipeline/testing/until';
import { type AgentWorker, startAgentWorker } from '../replicas/agent-worker.ts';
import { BOT, type Host, SECRET, SLUG, startHost } from '../replicas/host.ts';
import { type Service, startService } from '../replicas/service.ts';

const TOKEN = `wrk_at_${'a'.repeat(43)}`;
const CONFIG = `
agents: {}
repos: [{slug: ${SLUG}, vcs: sandbox, branch: main, checks: none}]
pollIntervals: {sprintMaster: 2, monitor: 1}
`;
const WITHIN_MS = 170_000;

/** Contains the scripts and everything that the workers write. */
export const folder = mkdtempSync(join(tmpdir(), 'agent-e2e-'));
const services: Service[] = [];
let started: Host;
let api: Service;
let worker: AgentWorker | undefined;

afterEach(() => worker?.kill());
afterAll(async () => {
  await Promise.all(services.map((service) => service.kill()));
  await started?.stop();
  rmSync(folder, { recursive: true, force: true });
});
export const database = testDatabase();

/** Starts host and services for the tests of a file. */
export function startedStack(): void {
  beforeAll(async () => {
    started = await startHost();
    writeFileSync(join(folder, 'pipeline.yaml'), CONFIG);
    const tenantId = await ensureTenant(database.store.db, 'default');
    const tokenHash = createHash('sha256').update(TOKEN).digest('hex');
    await insertWorkerToken(database.store.db, { tenantId, name: 'agent', tokenHash, repoIds: null });
    const common = { DATABASE_URL: database.url, DATABASE_POOL_SIZE: '4' };
    api = await startService('hosted-api', { ...common, GITHUB_WEBHOOK_SECRET: SECRET });
    started.hooks.push(api.url);
    const config = { PIPELINE_CONFIG: join(folder, 'pipeline.yaml') };
    const sandbox = { SANDBOX_URL: started.sandbox.url, SANDBOX_TOKEN: BOT.token };
    services.push(api, await startService('monitor', { ...common, ...config, ...sandbox }));
  });
}

/** The sandbox host, from the first test on. */
export const host = (): Host => started;

/** Starts pipeline-agent with a script. */
export function startAgent(script: ScriptInput, name: string, program: readonly [string, ...string[]]): AgentWorker {
  const path = join(folder, `${name}.json`);
  writeFileSync(path, JSON.stringify(script));
  worker = startAgentWorker({ server: api.url, token: TOKEN, name, script: path, folder, program });
  return worker;
}

const verdict = (outcome: string, result: object = {}) => ({ verdict: { outcome, result } });
/** Opens an issue on the host that enters the pipeline. @returns its number */
export const openIssue = async (title: string): Promise<number> =>
  (await started.api<{ number: number }>('POST', `/repos/${SLUG}/issues`, { title, labels: ['svc:enqueue'] })).number;

const stateOf = async (number: number): Promise<string | undefined> =>
  (await database.db.selectFrom('issues').select('state').where('issue_number', '=', number).executeTakeFirst())?.state;

/** Returns a script that writes a file. */
export const writing = (path: string): ScriptInput => ({
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
export async function done(number: number, output: () => string): Promise<void> {
  try {
    await until('the issue is done', async () => (await stateOf(number)) === 'done', WITHIN_MS);
  } catch (error) {
    throw new Error(output().slice(-8_000), { cause: error });
  }
}
