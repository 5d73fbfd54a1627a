import { deadlineSignal } from '@pipeline/runtime';
import type { TaskContext } from '@pipeline/worker';
import { AgentFailure } from '../agents/failures.ts';
import type { Box } from '../sandbox/sandbox.ts';
import { Terminals } from '../session/terminals.ts';

export interface Setup {
  command: string;
  dir: string;
  env: Readonly<Record<string, string>>;
  box: Box;
  timeoutMs: number;
}

const MAX_TAIL = 4_000;

/**
 * Runs the setup command of a repository in the work tree, with the confinement of the agent and without its key.
 * @throws AgentFailure with the end of the output when it fails or takes too long.
 */
export async function runSetup(setup: Setup, context: TaskContext): Promise<void> {
  const { command, dir, env, box, timeoutMs } = setup;
  context.record({ type: 'progress', status: 'Running the setup command', details: null });
  const deadline = deadlineSignal(timeoutMs);
  const terminals = new Terminals({ root: dir, env, box });
  const id = terminals.create({ sessionId: 'setup', command });
  const over = new AbortController();
  const stop = AbortSignal.any([context.signal, deadline]);
  stop.addEventListener('abort', () => terminals.kill(id), { signal: over.signal });
  if (stop.aborted) terminals.kill(id);
  const { exitCode, signal } = await terminals.wait(id);
  over.abort();
  const tail = terminals.output(id).output.slice(-MAX_TAIL);
  await box.end();
  context.signal.throwIfAborted();
  if (exitCode === 0) return;
  const end = deadline.aborted ? `took longer than ${timeoutMs} ms` : `ended with ${signal ?? `exit code ${exitCode}`}`;
  throw new AgentFailure('transient', `the setup command ${end}: ${command}\n${tail}`.trim());
}
