import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { scriptedAgentCommand } from '@pipeline/testing/scripted-agent';
import { ROOT } from '../../src/children/context.ts';
import { BOT } from './host.ts';

export interface AgentWorkerOptions {
  /** Base URL of the hosted API. */
  server: string;
  token: string;
  name: string;
  /** Path of the script of the agent. */
  script: string;
  /** Contains the script and everything that the worker writes. */
  folder: string;
  /** The program and its first arguments; by default the sources. */
  program?: readonly [string, ...string[]];
}

export interface AgentWorker {
  /** Returns what it has logged so far. */
  output(): string;
  kill(): Promise<void>;
}

const SOURCES = [
  process.execPath,
  '--disable-warning=ExperimentalWarning',
  join(ROOT, 'libs/agent/src/main.ts'),
] as const;

/** Starts pipeline-agent with the scripted agent and two slots. */
export function startAgentWorker(worker: AgentWorkerOptions): AgentWorker {
  const { server, token, name, script, folder } = worker;
  const options = { server, agent: scriptedAgentCommand(script), name, 'work-dir': join(folder, name), slots: '2' };
  const args = Object.entries(options).flatMap(([key, value]) => [`--${key}`, value]);
  for (const readable of [ROOT, script]) args.push('--sandbox-read', readable);
  const [command, ...first] = worker.program ?? SOURCES;
  const child = spawn(command, [...first, ...args], {
    cwd: ROOT,
    detached: true, // npx starts the worker as its child: a signal to the group ends both
    env: { PATH: process.env.PATH ?? '', HOME: folder, WORKER_TOKEN: token, GIT_TOKEN: BOT.token },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      text += chunk;
    });
  return {
    output: () => text,
    async kill() {
      if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
      process.kill(-child.pid, 'SIGKILL');
      await once(child, 'exit');
    },
  };
}
