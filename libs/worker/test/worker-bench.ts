import { readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLogger } from '@pipeline/runtime';
import { createWorkerClient } from '../src/client/client.ts';
import { AgentLogs } from '../src/exec/agent-log.ts';
import { childEnv, execHandler } from '../src/exec/exec.ts';
import { createWorker, type Worker, type WorkerOptions } from '../src/tasks/runner.ts';
import { FakeService } from './fake-service.ts';

const TOKEN = 'wrk_at_secret';

interface ExecExtras {
  taskTimeoutMs?: number;
  logDir?: string;
  gitCredentials?: boolean;
  /** Beside what every program of the bench inherits. */
  env?: Record<string, string>;
}

/** A fake service, a folder, and workers against it. */
export class WorkerBench {
  readonly service: FakeService;
  readonly dir: string;
  readonly #ends: Promise<unknown>[] = [];
  readonly #workers: Worker[] = [];

  private constructor(service: FakeService, dir: string) {
    this.service = service;
    this.dir = dir;
  }

  static async open(): Promise<WorkerBench> {
    return new WorkerBench(await FakeService.start(), await mkdtemp(join(tmpdir(), 'worker-')));
  }

  async close(): Promise<void> {
    for (const worker of this.#workers) worker.abandon();
    await this.service.close();
    await Promise.allSettled(this.#ends);
    await rm(this.dir, { recursive: true, force: true });
  }

  /** A worker with some handler. Returns with the end of its run. */
  start(options: Partial<WorkerOptions> & Pick<WorkerOptions, 'handler'>): { worker: Worker; ended: Promise<void> } {
    const retry = { baseMs: 1, maxMs: 5 };
    const worker = createWorker({
      client: createWorkerClient({ server: this.service.url, token: TOKEN, log: silentLogger, retry }),
      name: 'w',
      taskTypes: ['develop'],
      repos: [],
      log: silentLogger,
      ...options,
    });
    this.#workers.push(worker);
    const ended = worker.run();
    this.#ends.push(ended);
    ended.catch(() => undefined);
    return { worker, ended };
  }

  /** A worker that runs a shell command per task. */
  exec(command: string, options: Partial<WorkerOptions> & ExecExtras = {}) {
    const { taskTimeoutMs = 60_000, logDir, gitCredentials = true, env: more = {}, ...rest } = options;
    const parent = { PATH: process.env.PATH, COPY: `Bearer ${TOKEN}`, ...more };
    const env = childEnv(parent, TOKEN);
    const handler = execHandler({
      command,
      workDir: join(this.dir, 'work'),
      concurrency: 1,
      taskTimeoutMs,
      killGraceMs: 200,
      env,
      user: null,
      gitCredentials,
      logs: new AgentLogs(logDir ?? null),
      log: silentLogger,
    });
    return this.start({ handler, ...rest });
  }

  async script(name: string, content: string): Promise<string> {
    const path = join(this.dir, name);
    await writeFile(path, content);
    return path;
  }

  read(name: string): Promise<string> {
    return readFile(join(this.dir, name), 'utf8');
  }
}

/** True as long as the process exists and is no zombie. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  try {
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}
