import { execFile, spawn } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import type { TaskPayload, TaskType } from '@pipeline/domain';
import { COMPILE_CACHE } from '@pipeline/testing/compile-cache';
import type { AgentRecord, ExecTask } from '@pipeline/worker';
import { runAgent } from '../../src/demo/agent.ts';

const run = promisify(execFile);
const MAIN = fileURLToPath(new URL('../../src/demo/main.ts', import.meta.url));
const ENV = {
  ...COMPILE_CACHE,
  PATH: process.env.PATH ?? '',
  GIT_CONFIG_GLOBAL: '/dev/null',
  ...{ GIT_AUTHOR_NAME: 'A Person', GIT_AUTHOR_EMAIL: 'person@example.org' },
  ...{ GIT_COMMITTER_NAME: 'A Person', GIT_COMMITTER_EMAIL: 'person@example.org' },
};

export interface AgentRun {
  exitCode: number | null;
  records: AgentRecord[];
  outcome: string | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into results of every shape.
  result: any;
}

/** A bare repository on disk, a person's clone of it, and the agent as the process that the runner would start. */
export class AgentBench {
  readonly root: string;
  readonly bare: string;
  readonly person: string;

  private constructor(root: string) {
    this.root = root;
    this.bare = join(root, 'host.git');
    this.person = join(root, 'person');
  }

  static async open(files: Record<string, string>): Promise<AgentBench> {
    const bench = new AgentBench(await mkdtemp(join(tmpdir(), 'demo-agent-')));
    await run('git', ['init', '-q', '--bare', '-b', 'main', bench.bare], { env: ENV });
    await run('git', ['clone', '-q', bench.bare, bench.person], { env: ENV });
    await bench.git('checkout', '-q', '-B', 'main');
    await bench.commit('First commit', files);
    return bench;
  }

  close(): Promise<void> {
    return rm(this.root, { recursive: true, force: true });
  }

  async git(...args: string[]): Promise<string> {
    return (await run('git', args, { cwd: this.person, env: ENV })).stdout.trim();
  }

  /** A person's commit on main, or on another branch, pushed. */
  async commit(message: string, files: Record<string, string>, branch = 'main'): Promise<void> {
    for (const [path, content] of Object.entries(files)) {
      await mkdir(dirname(join(this.person, path)), { recursive: true });
      await writeFile(join(this.person, path), content);
    }
    await this.git('add', '--all');
    await this.git('commit', '-q', '-m', message);
    await this.git('push', '-q', 'origin', `HEAD:refs/heads/${branch}`);
  }

  /** What the host would do: a merge commit on main. */
  async merge(branch: string): Promise<void> {
    await this.git('fetch', '-q', 'origin');
    await this.git('checkout', '-q', '-B', 'main', 'origin/main');
    await this.git('merge', '-q', '--no-ff', '-m', `Merge ${branch}`, `origin/${branch}`);
    await this.git('push', '-q', 'origin', 'main');
  }

  async fileAt(branch: string, path: string): Promise<string> {
    const { stdout } = await run('git', ['--git-dir', this.bare, 'show', `${branch}:${path}`], { env: ENV });
    return stdout;
  }

  task(
    taskType: TaskType,
    issue: Partial<NonNullable<TaskPayload['issue']>>,
    more: Partial<TaskPayload> = {},
  ): ExecTask {
    const number = issue.number ?? 1;
    return {
      ...{ id: `t-${number}`, taskType, repo: 'acme/widgets', issueNumber: number, priority: 30, attempt: 0 },
      ...{
        maxAttempts: 3,
        leaseExpiresAt: '2026-01-01T00:00:00.000Z',
        promptVersion: null,
        maxTurns: null,
        budgetUsd: null,
      },
      payload: {
        issue: { title: 'An issue', body: '', url: '', labels: [], author: null, ...issue, number },
        repo: {
          slug: 'acme/widgets',
          cloneUrl: pathToFileURL(this.bare).href,
          defaultBranch: 'main',
          setupCommand: null,
        },
        ...{ branch: null, pr: null, plan: null, reviewComments: [], answers: [], snippets: [], instructions: null },
        ...{ previousAttempts: [], state: null, history: null },
        ...more,
      },
    };
  }

  /** Runs the agent in this process, with the environment and the records that its program would have. */
  async run(task: ExecTask, slot = 'slot-1'): Promise<AgentRun> {
    const lines: string[] = [];
    const exitCode = await runAgent(JSON.parse(JSON.stringify(task)) as ExecTask, {
      ...{ workDir: join(this.root, slot), gitToken: null, variables: ENV, pause: async () => {} },
      emit: (record) => void lines.push(JSON.stringify(record)),
    });
    return runOf(exitCode, lines);
  }

  /** Runs the agent's program as the runner does: the task on stdin, JSON lines on stdout. */
  async runProgram(task: ExecTask, slot = 'slot-1'): Promise<AgentRun> {
    const env = { ...ENV, PIPELINE_WORK_DIR: join(this.root, slot) };
    const child = spawn(process.execPath, [MAIN], { env, stdio: ['pipe', 'pipe', 'inherit'] });
    const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
    child.stdin.end(JSON.stringify(task));
    const output = await text(child.stdout);
    return runOf(await exited, output.trim().split('\n'));
  }

  readWorkFile(path: string, slot = 'slot-1'): Promise<string> {
    return readFile(join(this.root, slot, 'acme__widgets', path), 'utf8');
  }
}

function runOf(exitCode: number | null, lines: readonly string[]): AgentRun {
  const records = lines.map((line) => JSON.parse(line) as AgentRecord);
  const last = records.findLast((record) => record.type === 'outcome');
  return { exitCode, records, outcome: last?.outcome, result: last?.result };
}

/** The facts a task after a submission carries. */
export function prOf(run: AgentRun): NonNullable<TaskPayload['pr']> {
  const { headSha, branch, title, body } = run.result;
  return { number: 9, url: '', headSha, headRef: branch, title, body };
}

export const planOf = (run: AgentRun): NonNullable<TaskPayload['plan']> => ({
  text: run.result.plan,
  plannedFiles: run.result.plannedFiles,
});
