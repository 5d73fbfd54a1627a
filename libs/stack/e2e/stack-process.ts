import { type ChildProcess, spawn } from 'node:child_process';
import { createWriteStream, mkdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sleep, withDeadline } from '@pipeline/runtime';
import type { StackState } from '../src/data/state.ts';
import type { StackReport } from '../src/start/report.ts';
import { processesOf } from './processes.ts';

const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url));
const READY_WITHIN_MS = 240_000;

export interface Place {
  dataDir: string;
  /** Environment of the program that starts the stack. */
  env: NodeJS.ProcessEnv;
}

export interface StackEnd {
  code: number | null;
  signal: string | null;
  ms: number;
}

/** A stack as its user sees it: a process, its two streams and its exit. */
export class StackProcess {
  readonly child: ChildProcess;
  readonly startedAt = performance.now();
  stdout = '';
  stderr = '';
  readonly ended: Promise<{ code: number | null; signal: string | null }>;
  readonly #dataDir: string;

  constructor({ dataDir, env }: Place, args: readonly string[], ports: Record<string, string> = {}) {
    this.#dataDir = dataDir;
    mkdirSync(dataDir, { recursive: true });
    const free = { HOSTED_PORT: '0', MONITOR_PORT: '0', SANDBOX_PORT: '0', ...ports };
    this.child = spawn(
      process.execPath,
      ['--disable-warning=ExperimentalWarning', MAIN, '--data-dir', dataDir, ...args],
      {
        env: { ...env, ...free },
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    );
    // Read when something went wrong.
    const kept = createWriteStream(join(dataDir, 'e2e.err'), { flags: 'a' });
    this.child.stdout?.on('data', (chunk: Buffer) => {
      this.stdout += chunk;
    });
    this.child.stderr?.on('data', (chunk: Buffer) => {
      this.stderr += chunk;
      kept.write(chunk);
    });
    this.ended = new Promise((ended) => {
      this.child.once('exit', (code, signal) => ended({ code, signal }));
    });
  }

  /** @returns what it printed when it was ready, and how long that took. @throws Error with its words when it ends. */
  async ready(): Promise<{ report: StackReport; ms: number }> {
    const end = this.ended.then((how) => {
      throw new Error(`the stack ended (${JSON.stringify(how)}): ${this.stderr.slice(-2_000)}`);
    });
    end.catch(() => undefined);
    const line = (async () => {
      while (!this.stdout.includes('\n') && this.child.exitCode === null) await sleep(20);
    })();
    await withDeadline(
      Promise.race([end, line.then(() => (this.stdout === '' ? end : undefined))]),
      READY_WITHIN_MS,
      'the start',
    );
    return { report: JSON.parse(this.stdout) as StackReport, ms: performance.now() - this.startedAt };
  }

  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<StackEnd> {
    const began = performance.now();
    this.child.kill(signal);
    return { ...(await this.ended), ms: performance.now() - began };
  }

  async state(): Promise<StackState> {
    return JSON.parse(await readFile(join(this.#dataDir, 'stack.json'), 'utf8'));
  }
}

/** Ends everything that a test may have left on the folder. */
export async function clearUp(dataDir: string): Promise<void> {
  for (let round = 0; round < 10; round += 1) {
    const left = processesOf(dataDir);
    if (left.length === 0) return;
    for (const { pid } of left) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // Gone meanwhile.
      }
    }
    await sleep(200);
  }
}
