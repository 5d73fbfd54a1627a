import { deadlineSignal } from '@pipeline/runtime';
import { envOf, type RunAs, runChild, type TaskContext } from '@pipeline/worker';
import { toolEnv } from '../agents/environment.ts';
import { AgentFailure } from '../agents/failures.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';

export interface Setup {
  command: string;
  dir: string;
  readable: readonly string[];
  env: Readonly<Record<string, string>>;
  user: RunAs | null;
  sandbox: Sandbox;
  timeoutMs: number;
  graceMs: number;
}

const MAX_TAIL = 4_000;

/**
 * Runs the setup command of a repository in the work tree, with the confinement of the agent and without its key.
 * @throws AgentFailure with the end of the output when it fails or takes too long.
 */
export async function runSetup(setup: Setup, context: TaskContext): Promise<void> {
  const { command, dir, readable, env, user, sandbox, timeoutMs, graceMs } = setup;
  let tail = '';
  const keep = (chunk: Buffer) => {
    tail = (tail + chunk.toString('utf8')).slice(-MAX_TAIL);
  };
  context.record({ type: 'progress', status: 'Running the setup command', details: null });
  const deadline = deadlineSignal(timeoutMs);
  const { exitCode, signal } = await runChild({
    command: sandbox.wrap(['/bin/sh', '-c', command], { tree: dir, readable }).map(quoted).join(' '),
    cwd: dir,
    env: { ...toolEnv(env), ...envOf(user) },
    user,
    stdin: '',
    onStdout: keep,
    onStderr: keep,
    signal: AbortSignal.any([context.signal, deadline]),
    graceMs,
  });
  context.signal.throwIfAborted();
  if (exitCode === 0) return;
  const end = deadline.aborted ? `took longer than ${timeoutMs} ms` : `ended with ${signal ?? `exit code ${exitCode}`}`;
  throw new AgentFailure('transient', `the setup command ${end}: ${command}\n${tail}`.trim());
}

const quoted = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`;
