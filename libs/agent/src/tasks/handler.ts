import { createHash } from 'node:crypto';
import { join, resolve } from 'node:path';
import type { ClaimedTask } from '@pipeline/contract';
import {
  checkedOutcome,
  failure,
  type GitCredentials,
  type TaskContext,
  type TaskHandler,
  type Verdict,
} from '@pipeline/worker';
import { toolEnv } from '../agents/environment.ts';
import { AgentFailure } from '../agents/failures.ts';
import { KnownSecrets, keysOf } from '../agents/known-secrets.ts';
import { scan } from '../code-map/scan.ts';
import { type HostAccess, Mirror } from '../git/mirror.ts';
import { GitFailure } from '../git/run-git.ts';
import { startingPoint } from '../git/starting-point.ts';
import { type TaskFolders, taskFolders } from '../git/tree-folders.ts';
import { type CommitIdentity, type StartingPoint, WorkTree } from '../git/work-tree.ts';
import { isAgentTask, packageTemplate, renderPrompt, templatePath } from '../prompts/prompt.ts';
import { sectionsOf } from '../prompts/sections.ts';
import { verdictRequest } from '../prompts/verdict.ts';
import type { Box } from '../sandbox/sandbox.ts';
import { type RunSettings, runAgent } from './agent-run.ts';
import type { RunLimits } from './limits.ts';
import { copyLogin } from './login.ts';
import { judgeMerge } from './merge.ts';
import type { Route } from './routes.ts';
import { runSetup } from './setup.ts';
import { acceptVerdict, problemOf } from './submission.ts';

export interface AgentHandlerOptions extends RunSettings {
  /** Mirrors and work trees are below it. */
  workDir: string;
  /** Home folder of the operator, with the logins of agents. */
  home: string;
  /** Returns the agent for a task. */
  route(task: ClaimedTask): Route;
  /** Limits beside those of the task; null = no limit. */
  limits: RunLimits;
  /** Commits of history that a work tree contains. */
  depth: number;
  setupTimeoutMs: number;
  identity: CommitIdentity;
  /** Token for the host where the service has no credentials; null = none, as for a host that is reached by SSH. */
  gitToken: string | null;
}

/**
 * Processes tasks with agents of the Agent Client Protocol. Merge tasks and code maps need no agent. Each slot has a work
 * tree, which each of its tasks resets to its own starting point.
 */
export function agentHandler(options: AgentHandlerOptions): TaskHandler {
  const mirrors = new Map<string, Mirror>();
  const mirrorOf = ({ payload }: ClaimedTask): Mirror => {
    const { slug, cloneUrl } = payload.repo;
    const known = mirrors.get(cloneUrl);
    if (known) return known;
    // Two hosts may have a repository of the same name.
    const folder = join(
      resolve(options.workDir),
      'mirrors',
      createHash('sha256').update(cloneUrl).digest('hex').slice(0, 12),
    );
    const mirror = new Mirror({ folder, slug, cloneUrl, depth: options.depth, env: options.env });
    mirrors.set(cloneUrl, mirror);
    return mirror;
  };
  return async (task, context) => {
    const secrets = new KnownSecrets([options.gitToken ?? '']);
    const work = new TaskWork(options, task, { context, mirror: mirrorOf(task), secrets });
    return secrets.redact(await work.run().catch(failureOf));
  };
}

/** @throws errors that are not an expected end of a task. */
function failureOf(error: unknown): Verdict {
  if (error instanceof AgentFailure) return failure(error.message, error.errorClass);
  if (error instanceof GitFailure) return failure(error.message);
  throw error;
}

interface WorkPlace {
  context: TaskContext;
  mirror: Mirror;
  /** Extended by those that the task gets. */
  secrets: KnownSecrets;
}

/** One task: fetch, work tree, setup, agent, result. */
class TaskWork {
  readonly #options: AgentHandlerOptions;
  readonly #task: ClaimedTask;
  readonly #context: TaskContext;
  readonly #mirror: Mirror;
  readonly #secrets: KnownSecrets;

  constructor(options: AgentHandlerOptions, task: ClaimedTask, { context, mirror, secrets }: WorkPlace) {
    this.#options = options;
    this.#task = task;
    this.#context = context;
    this.#mirror = mirror;
    this.#secrets = secrets;
  }

  async run(): Promise<Verdict> {
    const access = await this.#access();
    const { taskType } = this.#task;
    if (taskType === 'merge') return judgeMerge(this.#task, this.#mirror, access, this.#context);
    const start = await startingPoint(this.#task, this.#mirror, access);
    if (taskType === 'code-map-scan') return this.#scan(start);
    const { workDir, env, sandbox, identity } = this.#options;
    const folders = await taskFolders(join(resolve(workDir), 'tasks', `${this.#context.slot + 1}`), sandbox);
    const { signal } = this.#context;
    const tree = await WorkTree.create({ mirror: this.#mirror, folders, start, env, sandbox, identity, signal });
    try {
      await this.#setUp(tree, folders);
      return await this.#work(tree, folders);
    } finally {
      await tree.end();
    }
  }

  async #access(): Promise<HostAccess> {
    const { gitToken } = this.#options;
    const { cloneUrl } = this.#task.payload.repo;
    const issued = await this.#context.credentials();
    this.#secrets.add(issued?.token ?? '');
    const own: GitCredentials | null =
      gitToken === null || !/^https?:/.test(cloneUrl)
        ? null
        : { cloneUrl, username: 'x-access-token', token: gitToken };
    return { credentials: issued ?? own, signal: this.#context.signal };
  }

  async #scan({ base }: StartingPoint): Promise<Verdict> {
    const { record, signal } = this.#context;
    return checkedOutcome(this.#task, 'scanned', await scan({ mirror: this.#mirror, commit: base, record, signal }));
  }

  /** Only tasks that run the code need it. */
  async #setUp({ dir }: WorkTree, { home }: TaskFolders): Promise<void> {
    const { taskType, payload } = this.#task;
    const command = payload.repo.setupCommand;
    if (command === null || (taskType !== 'develop' && taskType !== 'review')) return;
    const { env, sandbox, setupTimeoutMs: timeoutMs } = this.#options;
    const own = toolEnv(env, { user: sandbox.user, home });
    await runSetup({ command, dir, env: own, box: this.#box(dir, home), timeoutMs }, this.#context);
  }

  #box(dir: string, home: string): Box {
    return this.#options.sandbox.open({ writable: [dir, home], readable: [this.#mirror.objects], network: true });
  }

  async #work(tree: WorkTree, { home }: TaskFolders): Promise<Verdict> {
    const task = this.#task;
    const { limits, home: operatorHome, ...settings } = this.#options;
    const { agent, model, mode } = this.#options.route(task);
    const { claimToken: _, ...shown } = task;
    const secrets = this.#secrets;
    for (const key of keysOf(agent, settings.env, settings.passedEnv)) secrets.add(key);
    const box = this.#box(tree.dir, home);
    await copyLogin(agent, { env: settings.env, from: operatorHome, to: home, box });
    const submission = { task, mirror: this.#mirror, tree, secrets, access: () => this.#access() };
    return runAgent({
      agent,
      session: { model, mode: mode ?? agent.mode },
      settings: { ...settings, policy: policyFor(task, settings.policy) },
      task,
      context: this.#context,
      dir: tree.dir,
      box,
      owner: { user: settings.sandbox.user, home },
      prompt: await this.#prompt(tree),
      secrets,
      limits: {
        maxTurns: least(task.maxTurns, limits.maxTurns),
        budgetUsd: least(task.budgetUsd, limits.budgetUsd),
        timeMs: limits.timeMs,
      },
      meta: { 'pipeline/task': shown, 'pipeline/conflicts': tree.start.conflicts },
      problemOf: (verdict) => problemOf(submission, verdict),
      accept: (verdict) => acceptVerdict(submission, verdict),
    });
  }

  /** The template and AGENTS.md are read at the default branch: a pull request cannot change its own review. */
  async #prompt(tree: WorkTree): Promise<string> {
    const { taskType } = this.#task;
    if (!isAgentTask(taskType)) throw new AgentFailure('permanent', `no agent works on ${taskType} tasks`);
    const { base } = tree.start;
    const path = templatePath(taskType);
    const own = await this.#mirror.fileOf(base, path);
    const guide = await this.#mirror.fileOf(base, 'AGENTS.md');
    const [reviewed] = tree.start.parents;
    const changedFiles = taskType === 'review' && reviewed ? await tree.changedSince(reviewed) : [];
    const context = { task: this.#task, start: tree.start, changedFiles, guide };
    const sections = sectionsOf(context, verdictRequest(taskType));
    return renderPrompt(own ?? packageTemplate(taskType), sections, own === null ? 'prompt' : path);
  }
}

/** Only development changes files. */
const policyFor = ({ taskType }: ClaimedTask, policy: RunSettings['policy']): RunSettings['policy'] =>
  taskType === 'develop' ? policy : { ...policy, edit: policy.edit === 'allow' ? 'allow' : 'refuse' };

function least(one: number | null, other: number | null): number | null {
  if (one === null) return other;
  return other === null ? one : Math.min(one, other);
}
