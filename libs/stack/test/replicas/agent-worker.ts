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
}

export interface AgentWorker {
  /** Returns what it has logged so far. */
  output(): string;
  kill(): Promise<void>;
}

/** Starts pipeline-agent with the scripted agent and two slots. */
export function startAgentWorker({ server, token, name, script, folder }: AgentWorkerOptions): AgentWorker {
  const options = { server, agent: scriptedAgentCommand(script), name, 'work-dir': join(folder, name), slots: '2' };
  const args = Object.entries(options).flatMap(([key, value]) => [`--${key}`, value]);
  for (const readable of [ROOT, folder]) args.push('--sandbox-read', readable);
  const main = join(ROOT, 'libs/agent/src/main.ts');
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', main, ...args], {
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
      if (child.exitCode === null && child.kill('SIGKILL')) await once(child, 'exit');
    },
  };
}
