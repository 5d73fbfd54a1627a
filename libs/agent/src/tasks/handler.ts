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
import { AgentFailure } from '../agents/failures.ts';
import { scan } from '../code-map/scan.ts';
import { type HostAccess, Mirror } from '../git/mirror.ts';
import { GitFailure } from '../git/run-git.ts';
import { startingPoint } from '../git/starting-point.ts';
import { type CommitIdentity, WorkTree } from '../git/work-tree.ts';
import { isAgentTask, packageTemplate, renderPrompt, templatePath } from '../prompts/prompt.ts';
import { sectionsOf } from '../prompts/sections.ts';
import { verdictRequest } from '../prompts/verdict.ts';
import { type RunSettings, runAgent } from './agent-run.ts';
import type { RunLimits } from './limits.ts';
import { judgeMerge } from './merge.ts';
import type { Route } from './routes.ts';
import { runSetup } from './setup.ts';
import { acceptVerdict } from './submission.ts';

export interface AgentHandlerOptions extends RunSettings {
  /** Mirrors and work trees are below it. */
  workDir: string;
  /** Returns the agent for a task. */
  route(task: ClaimedTask): Route;
  /** Limits beside those of the task; null = no limit. */
  limits: RunLimits;
  /** Commits of history that a work tree contains. */
  depth: number;
  setupTimeoutMs: number;
  identity: CommitIdentity;
  /** Token for the host where the service has no credentials; null = git uses those of the machine. */
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
    try {
      return await new TaskWork(options, task, { context, mirror: mirrorOf(task) }).run();
    } catch (error) {
      if (error instanceof AgentFailure) return failure(error.message, error.errorClass);
      if (error instanceof GitFailure) return failure(error.message);
      throw error;
    }
  };
}

interface WorkPlace {
  context: TaskContext;
  mirror: Mirror;
}

/** One task: fetch, work tree, setup, agent, result. */
class TaskWork {
  readonly #options: AgentHandlerOptions;
  readonly #task: ClaimedTask;
  readonly #context: TaskContext;
  readonly #mirror: Mirror;

  constructor(options: AgentHandlerOptions, task: ClaimedTask, { context, mirror }: WorkPlace) {
    this.#options = options;
    this.#task = task;
    this.#context = context;
    this.#mirror = mirror;
  }

  async run(): Promise<Verdict> {
    const access = await this.#access();
    if (this.#task.taskType === 'merge') return judgeMerge(this.#task, this.#mirror, access, this.#context);
    const tree = await this.#createTree(access);
    if (this.#task.taskType === 'code-map-scan') return this.#scan(tree);
    await this.#setUp(tree);
    return this.#work(tree);
  }

  async #access(): Promise<HostAccess> {
    const { gitToken } = this.#options;
    const { cloneUrl } = this.#task.payload.repo;
    const issued = await this.#context.credentials();
    const own: GitCredentials | null =
      gitToken === null || !/^https?:/.test(cloneUrl)
        ? null
        : { cloneUrl, username: 'x-access-token', token: gitToken };
    return { credentials: issued ?? own, signal: this.#context.signal };
  }

  async #createTree(access: HostAccess): Promise<WorkTree> {
    const { workDir, env, user, identity } = this.#options;
    const start = await startingPoint(this.#task, this.#mirror, access);
    const folder = join(resolve(workDir), 'tasks', `${this.#context.slot + 1}`);
    return WorkTree.create({ mirror: this.#mirror, folder, start, env, user, identity });
  }

  async #scan(tree: WorkTree): Promise<Verdict> {
    const { record } = this.#context;
    return checkedOutcome(this.#task, 'scanned', await scan({ mirror: this.#mirror, tree, record }));
  }

  /** Only tasks that run the code need it. */
  async #setUp(tree: WorkTree): Promise<void> {
    const { taskType, payload } = this.#task;
    const command = payload.repo.setupCommand;
    if (command === null || (taskType !== 'develop' && taskType !== 'review')) return;
    const { setupTimeoutMs: timeoutMs, ...settings } = this.#options;
    await runSetup({ ...settings, command, dir: tree.dir, readable: this.#readable, timeoutMs }, this.#context);
  }

  get #readable(): string[] {
    return [join(this.#mirror.dir, 'objects')];
  }

  async #work(tree: WorkTree): Promise<Verdict> {
    const task = this.#task;
    const { limits, ...settings } = this.#options;
    const { agent, model, mode } = this.#options.route(task);
    const { claimToken: _, ...shown } = task;
    const submission = { task, mirror: this.#mirror, tree, access: () => this.#access() };
    return runAgent({
      agent,
      session: { model, mode: mode ?? agent.mode },
      settings: { ...settings, policy: policyFor(task, settings.policy) },
      task,
      context: this.#context,
      dir: tree.dir,
      readable: this.#readable,
      prompt: await this.#prompt(tree),
      limits: {
        maxTurns: least(task.maxTurns, limits.maxTurns),
        budgetUsd: least(task.budgetUsd, limits.budgetUsd),
        timeMs: limits.timeMs,
      },
      meta: { 'pipeline/task': shown, 'pipeline/conflicts': tree.start.conflicts },
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
