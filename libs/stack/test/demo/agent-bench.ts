import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import {
  acceptVerdict,
  judgeMerge,
  KnownSecrets,
  Mirror,
  noSandbox,
  startingPoint,
  taskFolders,
  WorkTree,
} from '@pipeline/agent';
import type { TaskPayload, TaskType } from '@pipeline/domain';
import type { ExecTask, Verdict } from '@pipeline/worker';
import script, { type DemoStep } from '../../src/demo/script.ts';

const run = promisify(execFile);
const ENV = {
  PATH: process.env.PATH ?? '',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_AUTHOR_NAME: 'A Person',
  GIT_AUTHOR_EMAIL: 'person@example.org',
  GIT_COMMITTER_NAME: 'A Person',
  GIT_COMMITTER_EMAIL: 'person@example.org',
};

export interface AgentRun {
  steps: DemoStep[];
  failure: Extract<DemoStep, { fail: object }>['fail'] | undefined;
  outcome: string | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into results of every shape.
  result: any;
}

/** A bare repository on disk, a person's clone of it, and the script of the demo agent in a work tree. */
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

  /** Merges a branch like the host: by a merge commit on main. */
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
      id: `t-${number}`,
      taskType,
      repo: 'acme/widgets',
      issueNumber: number,
      priority: 30,
      attempt: 0,
      maxAttempts: 3,
      agent: null,
      leaseExpiresAt: '2026-01-01T00:00:00.000Z',
      promptVersion: null,
      maxTurns: null,
      budgetUsd: null,
      traceparent: '',
      payload: {
        issue: { title: 'An issue', body: '', url: '', labels: [], author: null, ...issue, number },
        repo: {
          slug: 'acme/widgets',
          cloneUrl: pathToFileURL(this.bare).href,
          defaultBranch: 'main',
          setupCommand: null,
        },
        branch: null,
        pr: null,
        plan: null,
        reviewComments: [],
        answers: [],
        snippets: [],
        instructions: null,
        previousAttempts: [],
        state: null,
        history: null,
        ...more,
      },
    };
  }

  /** Performs the script of the demo agent in a work tree, and reports as pipeline-agent does. */
  async run(task: ExecTask): Promise<AgentRun> {
    const claimed = { ...(JSON.parse(JSON.stringify(task)) as ExecTask), claimToken: '' };
    const { cloneUrl, slug } = task.payload.repo;
    const mirror = new Mirror({ folder: join(this.root, 'mirror'), slug, cloneUrl, depth: 50, env: ENV });
    const access = { credentials: null, signal: new AbortController().signal };
    if (task.taskType === 'merge') return runOf(await judgeMerge(claimed, mirror, access, { record: () => undefined }));
    const start = await startingPoint(claimed, mirror, access);
    const identity = { name: 'Pipeline agent', email: 'agent@pipeline.invalid' };
    const sandbox = noSandbox(null);
    const folders = await taskFolders(join(this.root, 'task'), sandbox);
    const place = { mirror, folders, sandbox, env: ENV, signal: access.signal };
    const tree = await WorkTree.create({ ...place, start, identity });
    const turn = { cwd: tree.dir, prompt: 'Do the chore.', task, conflicts: start.conflicts };
    const steps: DemoStep[] = [];
    for await (const step of script(turn)) {
      steps.push(step);
      if ('write' in step) await write(join(tree.dir, step.write.path), step.write.text);
      if ('fail' in step) return { steps, failure: step.fail, outcome: undefined, result: undefined };
      if (!('verdict' in step)) continue;
      const submission = { task: claimed, mirror, tree, secrets: new KnownSecrets(), access: async () => access };
      return runOf(await acceptVerdict(submission, step.verdict), steps);
    }
    throw new Error('the script ended without a verdict');
  }
}

async function write(path: string, content: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, content);
}

function runOf(verdict: Verdict, steps: DemoStep[] = []): AgentRun {
  if (verdict.kind === 'failure') throw new Error(verdict.errorMessage);
  return { steps, failure: undefined, outcome: verdict.outcome, result: verdict.result };
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
