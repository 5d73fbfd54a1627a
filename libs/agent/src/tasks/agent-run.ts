import { dirname } from 'node:path';
import type { ClaimedTask } from '@pipeline/contract';
import type { ModelPrice, STOP_REASONS } from '@pipeline/domain';
import { failure, type TaskContext, type Verdict } from '@pipeline/worker';
import { agentEnv, type TaskUser, toolEnv } from '../agents/environment.ts';
import { AgentFailure } from '../agents/failures.ts';
import type { KnownSecrets } from '../agents/known-secrets.ts';
import { hardened } from '../agents/node-agent.ts';
import { type AgentPreset, reportedName, UNKNOWN_PROVIDER } from '../agents/presets.ts';
import { findProgram, missingProgram } from '../agents/problems.ts';
import { type AgentVerdict, parseVerdict, repeatedRequest } from '../prompts/verdict.ts';
import type { Box, Sandbox } from '../sandbox/sandbox.ts';
import { AgentProcess } from '../session/agent-process.ts';
import { AgentSession, type SessionSettings } from '../session/agent-session.ts';
import { WorkTreeFiles } from '../session/files.ts';
import type { PermissionPolicy } from '../session/permissions.ts';
import { Terminals } from '../session/terminals.ts';
import { Transcript } from '../session/transcript.ts';
import { UsageMeter } from '../session/usage.ts';
import { agentError } from './agent-error.ts';
import { LimitReached, LimitWatch, promptWithin, type RunLimits } from './limits.ts';

/** Settings of the worker that hold for every run. */
export interface RunSettings {
  env: Readonly<Record<string, string>>;
  /** Names of further variables for the agent. */
  passedEnv: readonly string[];
  sandbox: Sandbox;
  policy: PermissionPolicy;
  prices: readonly ModelPrice[];
  /** Milliseconds between a cancel, SIGTERM and SIGKILL. */
  graceMs: number;
}

export interface AgentRun {
  agent: AgentPreset;
  session: SessionSettings;
  settings: RunSettings;
  task: ClaimedTask;
  context: TaskContext;
  /** Work tree. */
  dir: string;
  /** Place of the agent and its tools. */
  box: Box;
  /** User and home folder of the task. */
  owner: TaskUser;
  prompt: string;
  /** Values that leave neither with texts nor with files. */
  secrets: KnownSecrets;
  limits: RunLimits;
  /** Extension data of the prompt. */
  meta: Record<string, unknown>;
  /** Returns what the agent has to change before its verdict can be used; null = nothing. The agent still runs. */
  problemOf(verdict: AgentVerdict): Promise<string | null>;
  /** Uses the verdict, after the end of everything in the box. */
  accept(verdict: AgentVerdict): Promise<Verdict>;
}

/** Requests for a verdict after the first one. */
const MAX_REPEATS = 3;

type StopReason = (typeof STOP_REASONS)[number];

/** Runs an agent in a work tree until it has given an accepted verdict, reached a limit, or failed. */
export async function runAgent(run: AgentRun): Promise<Verdict> {
  const { agent, settings, context, limits, session: wanted } = run;
  if (findProgram(agent.command[0], settings.env.PATH ?? '') === null)
    return failure(missingProgram(agent), 'permanent');
  const redact = <T>(value: T): T => run.secrets.redact(value);
  const transcript = new Transcript({ record: context.record, redact });
  const meter = new UsageMeter({
    model: wanted.model ?? reportedName(agent),
    provider: agent.provider,
    agent: reportedName(agent),
    prices: settings.prices,
  });
  const watch = new LimitWatch(limits, context.signal);
  const attempt = new Attempt(run, { transcript, meter, watch, redact });
  let stopReason: StopReason = 'error';
  try {
    const given = await attempt.verdict();
    await attempt.close();
    const verdict = 'kind' in given ? given : await run.accept(given);
    stopReason = verdict.kind === 'outcome' ? 'completed' : 'no_progress';
    return verdict;
  } catch (error) {
    if (error instanceof LimitReached && error.limit === 'turns') stopReason = 'max_turns';
    return failureOf(error);
  } finally {
    watch.close();
    await attempt.close();
    transcript.flush();
    context.record({ type: 'invocation', ...meter.invocation(stopReason) });
  }
}

/** @throws errors that are not an expected end of a run. */
function failureOf(error: unknown): Verdict {
  // A retry would reach the budget again.
  if (error instanceof LimitReached)
    return failure(error.message, error.limit === 'budget' ? 'permanent' : 'transient');
  if (error instanceof AgentFailure) return failure(error.message, error.errorClass);
  throw error;
}

interface AttemptState {
  transcript: Transcript;
  meter: UsageMeter;
  watch: LimitWatch;
  redact<T>(value: T): T;
}

/** The process of one run with its session. */
class Attempt {
  readonly #run: AgentRun;
  readonly #state: AttemptState;
  readonly #terminals: Terminals;
  readonly #process: AgentProcess;
  #session: AgentSession | null = null;

  constructor(run: AgentRun, state: AttemptState) {
    const { agent, settings, dir, box, owner, context } = run;
    // Git of the agent must not find a repository above the work tree.
    const own = { GIT_CEILING_DIRECTORIES: dirname(dir), TRACEPARENT: run.task.traceparent };
    const env = { ...agentEnv(settings.env, agent, { task: owner, more: settings.passedEnv }), ...own };
    this.#run = run;
    this.#state = state;
    this.#terminals = new Terminals({ root: dir, env: { ...toolEnv(settings.env, owner), ...own }, box });
    const command = hardened(agent.command, settings.env.PATH ?? '');
    this.#process = new AgentProcess({
      program: box.start({ command, env, cwd: dir }, 'pipe'),
      graceMs: settings.graceMs,
      onStderr: (line) => context.log.debug('agent', { line: state.redact(line) }),
    });
  }

  /** Returns a verdict that has no problem, or a failure. */
  async verdict(): Promise<AgentVerdict | Verdict> {
    const { prompt, problemOf, task } = this.#run;
    const { transcript, redact } = this.#state;
    await this.#open();
    let text = prompt;
    for (let repeats = 0; ; repeats += 1) {
      const failed = await this.#turn(text);
      if (failed) return failed;
      const parsed = redact(parseVerdict(task, transcript.takeAnswer()));
      const problem = parsed.ok ? await problemOf(parsed.verdict) : parsed.problem;
      if (parsed.ok && problem === null) return parsed.verdict;
      if (repeats >= MAX_REPEATS)
        return failure(`the agent gave no valid verdict in ${repeats + 1} turns; the last one: ${problem}`);
      text = repeatedRequest(problem ?? '');
    }
  }

  async close(): Promise<void> {
    this.#session?.close();
    await this.#process.stop();
    await this.#run.box.end();
  }

  async #open(): Promise<void> {
    const { agent, dir, box, settings, session: wanted } = this.#run;
    const { transcript, meter, watch, redact } = this.#state;
    const files = new WorkTreeFiles(dir, box);
    const opening = this.#converted(async () => {
      const session = await AgentSession.connect(this.#process, {
        root: dir,
        policy: settings.policy,
        files,
        terminals: this.#terminals,
        onUpdate: (update) => {
          transcript.update(update);
          meter.update(update);
          watch.check(meter);
        },
        onPermission: (title, { allowed, reason }) =>
          transcript.note('system', `${allowed ? 'Allowed' : 'Refused'}: ${title.slice(0, 500)} (${reason})`),
      });
      this.#session = session;
      await session.open(dir, wanted);
      // The name of an agent given as a command line is that line, which may contain paths of this machine.
      const own = agent.provider === UNKNOWN_PROVIDER ? session.initialized.agentInfo?.name : undefined;
      meter.model = redact(session.model ?? own ?? meter.model).slice(0, 200);
    });
    await unlessAborted(opening, watch.signal);
  }

  /** @returns a failure when the agent ended its turn without finishing it. */
  async #turn(text: string): Promise<Verdict | null> {
    const { settings, task, meta, context } = this.#run;
    const { transcript, meter, watch } = this.#state;
    const session = this.#session;
    if (session === null) throw new Error('the session is not open');
    transcript.note('user', text);
    meter.prompted();
    const bounded = { session, signal: watch.signal, graceMs: settings.graceMs };
    const ask = () => promptWithin(bounded, text, meta, ({ usage }) => meter.used(usage));
    const { stopReason, usage } = await this.#converted(ask);
    meter.used(usage);
    transcript.flush();
    context.record({ type: 'invocation', ...meter.invocation('completed') });
    watch.check(meter);
    watch.signal.throwIfAborted();
    if (stopReason === 'end_turn') return null;
    return failure(`the agent ended its turn of a ${task.taskType} task with ${stopReason}`);
  }

  async #converted<T>(call: () => Promise<T>): Promise<T> {
    try {
      return await call();
    } catch (error) {
      this.#state.watch.signal.throwIfAborted();
      throw agentError(error, this.#run.agent, this.#session?.initialized.authMethods);
    }
  }
}

async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  work.catch(() => undefined);
  const settled = new AbortController();
  const aborted = new Promise<never>((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true, signal: settled.signal });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    settled.abort();
  }
}
