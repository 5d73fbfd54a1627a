import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { createServer } from 'node:net';
import { sleep, withDeadline } from '@pipeline/runtime';
import { request } from 'undici';
import { residentMib } from '../measure/memory.ts';

const START_WITHIN_MS = 30_000;
const STOP_WITHIN_MS = 12_000;

export interface ChildOptions {
  /** Arguments of Node: a file, or `-e` and a program. */
  args: readonly string[];
  /** All of it; PORT is added. */
  env: Record<string, string>;
  /** Gets what it prints, for the message when it fails. */
  logFile: string;
}

/** A service as a process of its own. */
export interface Child {
  url: string;
  pid: number;
  /** Milliseconds from the spawn to the first 200 of /health. */
  startMs: number;
  /** At that moment. */
  rssMib: number;
  /** SIGTERM, then SIGKILL. */
  stop(): Promise<void>;
}

/** @throws Error with the end of the log when the process does not answer. */
export async function startChild({ args, env, logFile }: ChildOptions): Promise<Child> {
  const port = await freePort();
  const log = await open(logFile, 'w');
  const began = performance.now();
  const child = spawn(process.execPath, args, {
    env: { ...env, PORT: `${port}` },
    stdio: ['ignore', log.fd, log.fd],
  });
  const killed = () => void child.kill('SIGKILL');
  process.on('exit', killed);
  const ended = new Promise<void>((resolve) => {
    child.once('close', () => {
      process.off('exit', killed);
      resolve();
    });
  });
  await log.close();
  const url = `http://127.0.0.1:${port}`;
  try {
    await withDeadline(answering(url, child), START_WITHIN_MS, `the start behind ${logFile}`);
  } catch (cause) {
    child.kill('SIGKILL');
    await ended;
    throw new Error(`a process did not start: ${readFileSync(logFile, 'utf8').trim().slice(-1_000)}`, { cause });
  }
  const startMs = performance.now() - began;
  return { url, pid: child.pid ?? 0, startMs, rssMib: residentMib(child.pid ?? 0), stop: () => stop(child, ended) };
}

async function answering(url: string, child: ChildProcess): Promise<void> {
  while (child.exitCode === null && child.signalCode === null) {
    const status = await request(`${url}/health`).then(
      async ({ statusCode, body }) => {
        await body.dump();
        return statusCode;
      },
      () => 0,
    );
    if (status === 200) return;
    await sleep(1);
  }
  throw new Error(`it ended with ${child.exitCode ?? child.signalCode}`);
}

async function stop(child: ChildProcess, ended: Promise<void>): Promise<void> {
  child.kill('SIGTERM');
  await withDeadline(ended, STOP_WITHIN_MS, 'stopping').catch(async () => {
    child.kill('SIGKILL');
    await ended;
  });
}

function freePort(): Promise<number> {
  return new Promise((found, failed) => {
    const probe = createServer().once('error', failed);
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() => found(typeof address === 'object' && address ? address.port : 0));
    });
  });
}
