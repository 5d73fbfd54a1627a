import { lchown } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { ClaimedTask } from '@pipeline/contract';
import { AGENT_OF, branchOf } from '@pipeline/domain';
import { deadlineSignal, type Logger, makeFolder } from '@pipeline/runtime';
import { gitEnv } from '../client/git-env.ts';
import type { ExecTask } from '../tasks/records.ts';
import type { TaskHandler } from '../tasks/task-run.ts';
import { type ProgramEnd, verdictOfEnd } from '../tasks/verdict.ts';
import type { AgentLogs } from './agent-log.ts';
import { runChild } from './child.ts';
import { defaultVerdict } from './default-outcome.ts';
import { ProgramOutput } from './output.ts';
import { processStarter } from './process-namespace.ts';
import { envOf, type RunAs } from './user.ts';

export interface ExecOptions {
  /** Command, run by the shell. */
  command: string;
  /** Work directory of the first slot, kept between tasks; further slots use subdirectories. */
  workDir: string;
  concurrency: number;
  taskTimeoutMs: number;
  /** Milliseconds between SIGTERM and SIGKILL when the program is stopped. */
  killGraceMs: number;
  /** Environment of the program; must not contain the worker token (see childEnv). */
  env: Record<string, string>;
  /** User that programs run as; null = user of the runner. */
  user: RunAs | null;
  /** True = each task requests git credentials. */
  gitCredentials: boolean;
  logs: AgentLogs;
  log: Logger;
}

/** Warning at the start of a worker whose machine permits no process namespace. */
export const NO_NAMESPACE =
  'this machine permits no process namespaces: a program can leave processes behind; run one task per container (--once)';

/** Returns the environment for programs: that of the parent without variables that contain a secret. */
export function childEnv(parent: Record<string, string | undefined>, secret: string): Record<string, string> {
  const kept = Object.entries(parent).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && !entry[1].includes(secret),
  );
  return Object.fromEntries(kept);
}

/**
 * Creates a task handler from a program: passes the task as JSON on stdin, reads records as JSON lines from stdout, and
 * derives the outcome from records and exit code.
 */
export function execHandler(options: ExecOptions): TaskHandler {
  const starter = processStarter(options.user);
  if (!starter.isNamespace) options.log.warn(NO_NAMESPACE);
  return async (task, context) => {
    const workDir = await slotDir(options, context.slot);
    const git = options.gitCredentials ? await context.credentials() : null;
    const { user } = options;
    const env = { ...options.env, ...envOf(user), ...(git && gitEnv(git, options.env)), ...taskEnv(task, workDir) };
    const fields = { taskId: task.id, repo: task.repo, issue: task.issueNumber };
    const log = options.logs.of(AGENT_OF[task.taskType])?.child(fields) ?? null;
    const output = new ProgramOutput(context.record, log, git?.token);
    const deadline = deadlineSignal(options.taskTimeoutMs);
    const { claimToken: _, ...visible } = task;
    const ended = await runChild({
      starter,
      command: options.command,
      cwd: workDir,
      env,
      stdin: `${JSON.stringify(visible satisfies ExecTask)}\n`,
      onStdout: (chunk) => output.stdout.push(chunk),
      onStderr: (chunk) => output.stderr.push(chunk),
      signal: AbortSignal.any([context.signal, deadline]),
      graceMs: options.killGraceMs,
    });
    output.stdout.end();
    output.stderr.end();
    const end: ProgramEnd = {
      ...ended,
      timedOutAfterMs: deadline.aborted ? options.taskTimeoutMs : null,
      printed: output.printed,
      invalid: output.invalid ?? output.brokenMap,
      stderr: output.stderrTail,
    };
    return (
      verdictOfEnd(task, end) ??
      defaultVerdict(task, { workDir, env, starter, stdout: output.text, mapped: output.mapped })
    );
  };
}

async function slotDir({ workDir, concurrency, user }: ExecOptions, slot: number): Promise<string> {
  const dir = resolve(concurrency > 1 ? join(workDir, String(slot + 1)) : workDir);
  makeFolder(dir);
  if (user !== null) await lchown(dir, user.uid, user.gid);
  return dir;
}

function taskEnv(task: ClaimedTask, workDir: string): Record<string, string> {
  const branch = task.payload.branch ?? (task.issueNumber === null ? '' : branchOf(task.issueNumber));
  return {
    PIPELINE_TASK_ID: task.id,
    PIPELINE_TASK_TYPE: task.taskType,
    PIPELINE_REPO: task.repo,
    PIPELINE_ISSUE_NUMBER: task.issueNumber === null ? '' : String(task.issueNumber),
    PIPELINE_ATTEMPT: String(task.attempt),
    PIPELINE_BRANCH: branch,
    PIPELINE_WORK_DIR: workDir,
    PIPELINE_AGENT: task.agent ?? '',
    TRACEPARENT: task.traceparent,
  };
}
