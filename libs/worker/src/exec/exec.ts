import { lchown } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { ClaimedTask } from '@pipeline/contract';
import { AGENT_OF, branchOf } from '@pipeline/domain';
import { deadlineSignal, makeFolder } from '@pipeline/runtime';
import { gitEnv } from '../client/git-env.ts';
import type { ExecTask } from '../tasks/records.ts';
import type { TaskHandler } from '../tasks/task-run.ts';
import { type ProgramEnd, verdictOfEnd } from '../tasks/verdict.ts';
import type { AgentLogs } from './agent-log.ts';
import { runChild } from './child.ts';
import { defaultVerdict } from './default-outcome.ts';
import { ProgramOutput } from './output.ts';
import { envOf, type RunAs } from './user.ts';

export interface ExecOptions {
  /** Run by the shell. */
  command: string;
  /** Of the first slot; further slots of a worker with several have folders in it. Kept from task to task. */
  workDir: string;
  concurrency: number;
  taskTimeoutMs: number;
  /** From SIGTERM to SIGKILL for a program that has to end. */
  killGraceMs: number;
  /** What the program inherits: must not hold the worker token (childEnv). */
  env: Record<string, string>;
  /** The user that programs run as; null = the runner's own. */
  user: RunAs | null;
  /** Ask the service for git credentials of each task. */
  gitCredentials: boolean;
  logs: AgentLogs;
}

/** Environment for programs: the parent's, but for the variable with the token and any other that repeats it. */
export function childEnv(
  parent: Record<string, string | undefined>,
  secret: { name: string; value: string },
): Record<string, string> {
  const kept = Object.entries(parent).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined && entry[0] !== secret.name && !entry[1].includes(secret.value),
  );
  return Object.fromEntries(kept);
}

/**
 * Turns a program into a handler: the task as JSON on its stdin, records as JSON lines on its stdout, its end as the
 * outcome.
 */
export function execHandler(options: ExecOptions): TaskHandler {
  return async (task, context) => {
    const workDir = await slotDir(options, context.slot);
    const git = options.gitCredentials ? await context.credentials() : null;
    const { user } = options;
    const env = { ...options.env, ...envOf(user), ...(git && gitEnv(git, options.env)), ...taskEnv(task, workDir) };
    const fields = { taskId: task.id, repo: task.repo, issue: task.issueNumber };
    const log = options.logs.of(AGENT_OF[task.taskType])?.child(fields) ?? null;
    const output = new ProgramOutput(context.record, log, git?.token);
    const deadline = deadlineSignal(options.taskTimeoutMs);
    const { claimToken: _, ...told } = task;
    const ended = await runChild({
      command: options.command,
      cwd: workDir,
      env,
      user,
      stdin: `${JSON.stringify(told satisfies ExecTask)}\n`,
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
      defaultVerdict(task, { workDir, env, user, stdout: output.text, mapped: output.mapped })
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
  };
}
