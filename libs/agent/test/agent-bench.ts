import { execFile } from 'node:child_process';
import { chmodSync, mkdtempSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { ClaimedTask } from '@pipeline/contract';
import type { TaskType } from '@pipeline/domain';
import { silentLogger } from '@pipeline/runtime';
import { type ScriptInput, scriptedAgentCommand } from '@pipeline/testing/scripted-agent';
import type { RunRecord, TaskContext, Verdict } from '@pipeline/worker';
import { agentOf } from '../src/agents/presets.ts';
import { chooseSandbox, noSandbox } from '../src/sandbox/choose-sandbox.ts';
import type { Sandbox } from '../src/sandbox/sandbox.ts';
import { DEFAULT_POLICY } from '../src/session/permissions.ts';
import { type AgentHandlerOptions, agentHandler } from '../src/tasks/handler.ts';

const run = promisify(execFile);
const IDENTITY = { GIT_AUTHOR_NAME: 'p', GIT_AUTHOR_EMAIL: 'p@localhost' };
const COMMITTER = { GIT_COMMITTER_NAME: 'p', GIT_COMMITTER_EMAIL: 'p@localhost' };

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

/** Scripts of agents, which confined agents read as well. */
export const SCRIPTS = mkdtempSync(join(tmpdir(), 'agent-scripts-'));
chmodSync(SCRIPTS, 0o755);

/** Options of the sandboxes of tests. Virtual machines are emulated, as few machines of tests have KVM. */
export const place = {
  path: process.env.PATH ?? '',
  user: null,
  readable: [ROOT, SCRIPTS],
  egress: null,
  vm: { image: process.env.VM_IMAGE ?? '/var/lib/pipeline/vm', accel: 'tcg' as const },
};

/** Bubblewrap for the scripted agent; null where it cannot start, which is reported. */
export const BUBBLEWRAP: Sandbox | null = await chooseSandbox('auto', place).catch(() => null);
if (BUBBLEWRAP === null) process.stderr.write('SKIPPED: tests of bubblewrap, which cannot start here\n');

/** The sandboxes of this machine whose programs cannot outlive their task. */
export const BOXES = [BUBBLEWRAP, noSandbox(null)].flatMap((box) =>
  box?.isNamespace ? [{ name: box.name, box }] : [],
);

export interface BenchRun {
  verdict: Verdict;
  records: RunRecord[];
  /** Texts of the recorded messages. */
  texts: string[];
}

/** A git host in a folder, and tasks of one repository for the handler with a scripted agent. */
export class AgentBench {
  readonly dir: string;
  /** Signal of the next tasks. */
  readonly stop = new AbortController();
  #made = 0;

  private constructor(dir: string) {
    this.dir = dir;
  }

  static async open(files: Record<string, string> = { 'README.md': '# Shop\n' }): Promise<AgentBench> {
    const bench = new AgentBench(await mkdtemp(join(tmpdir(), 'agent-')));
    await mkdir(join(bench.dir, 'person'));
    await bench.person('init', '-q', '-b', 'main');
    await run('git', ['init', '-q', '--bare', '-b', 'main', bench.host]);
    await bench.person('remote', 'add', 'origin', bench.host);
    await bench.commit('First', files);
    return bench;
  }

  async close(): Promise<void> {
    await rm(this.dir, { recursive: true, force: true });
  }

  get host(): string {
    return join(this.dir, 'host.git');
  }

  /** Runs git in the clone of a person. */
  async person(...args: string[]): Promise<string> {
    const env = { PATH: process.env.PATH, ...IDENTITY, ...COMMITTER };
    return (await run('git', args, { cwd: join(this.dir, 'person'), env })).stdout.trim();
  }

  /** Commits files on a branch of the host. @returns the commit. */
  async commit(subject: string, files: Record<string, string>, branch = 'main'): Promise<string> {
    await this.person(
      'checkout',
      '-q',
      '-B',
      branch,
      await this.person('rev-parse', '-q', '--verify', `origin/${branch}`).catch(() => 'HEAD'),
    ).catch(() => '');
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(join(this.dir, 'person', path)), { recursive: true });
      await writeFile(join(this.dir, 'person', path), text);
    }
    await this.person('add', '--all');
    await this.person('commit', '-q', '-m', subject);
    await this.person('push', '-q', 'origin', `HEAD:${branch}`);
    await this.person('fetch', '-q', 'origin');
    return this.person('rev-parse', 'HEAD');
  }

  /** Returns the text of a file on a branch of the host. */
  async hostFile(branch: string, path: string): Promise<string> {
    return (await run('git', ['-C', this.host, 'show', `${branch}:${path}`])).stdout;
  }

  async hostGit(...args: string[]): Promise<string> {
    return (await run('git', ['-C', this.host, ...args])).stdout.trim();
  }

  task(taskType: TaskType, payload: Partial<ClaimedTask['payload']> = {}): ClaimedTask {
    const repo = { slug: 'acme/shop', cloneUrl: this.host, defaultBranch: 'main', setupCommand: null };
    const issue = { number: 7, title: 'Add a list', body: 'Please.', url: '', labels: [], author: 'anna' };
    return {
      id: 't-1',
      taskType,
      repo: 'acme/shop',
      issueNumber: 7,
      priority: 30,
      attempt: 0,
      maxAttempts: 3,
      claimToken: '0198c5a4-7c1e-7000-8000-000000000001',
      traceparent: '',
      agent: null,
      leaseExpiresAt: '2026-01-01T00:00:00.000Z',
      payload: {
        issue,
        repo,
        branch: 'svc/issue-7',
        pr: null,
        plan: null,
        reviewComments: [],
        answers: [],
        snippets: [],
        instructions: null,
        previousAttempts: [],
        state: null,
        history: null,
        ...payload,
      },
      promptVersion: null,
      maxTurns: null,
      budgetUsd: null,
    };
  }

  /** Writes a script. @returns the command of an agent that performs it. */
  async agent(script: ScriptInput): Promise<string> {
    this.#made += 1;
    const path = join(SCRIPTS, `script-${basename(this.dir)}-${this.#made}.json`);
    await writeFile(path, JSON.stringify(script));
    return scriptedAgentCommand(path);
  }

  /** Processes a task with a scripted agent, as the worker would. */
  async run(task: ClaimedTask, script: ScriptInput, options: Partial<AgentHandlerOptions> = {}): Promise<BenchRun> {
    const agent = agentOf(await this.agent(script));
    const records: RunRecord[] = [];
    const handler = agentHandler({
      env: { PATH: process.env.PATH ?? '', HOME: this.dir, SECRET_OF_HOST: 'do-not-pass' },
      passedEnv: [],
      home: this.dir,
      sandbox: noSandbox(null),
      policy: DEFAULT_POLICY,
      prices: [],
      graceMs: 300,
      workDir: join(this.dir, 'work'),
      route: () => ({ agent, model: null, mode: null }),
      limits: { maxTurns: null, budgetUsd: null, timeMs: 30_000 },
      depth: 50,
      setupTimeoutMs: 20_000,
      identity: { name: 'Bot', email: 'bot@localhost' },
      gitToken: null,
      ...options,
    });
    const context: TaskContext = {
      signal: this.stop.signal,
      slot: 0,
      log: silentLogger,
      credentials: async () => null,
      record: (record) => records.push(record),
    };
    const verdict = await handler(task, context);
    const texts = records.flatMap((record) => (record.type === 'message' ? [record.content ?? ''] : []));
    return { verdict, records, texts };
  }

  read(path: string): Promise<string> {
    return readFile(join(this.dir, path), 'utf8');
  }
}
