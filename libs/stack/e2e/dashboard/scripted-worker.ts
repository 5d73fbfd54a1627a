import type { TaskType } from '@pipeline/domain';
import { silentLogger } from '@pipeline/runtime';
import { type Completion, createWorkerClient, type WorkerClient } from '@pipeline/worker';
import type { StackReport } from '../../src/start/report.ts';

export type Task = NonNullable<Awaited<ReturnType<WorkerClient['claim']>>>;

const TASK_WITHIN_MS = 20_000;
/** Its requests are not aborted. */
const NEVER = new AbortController().signal;

/** A worker that does what a check wants, step by step. */
export class ScriptedWorker {
  readonly #client: WorkerClient;
  readonly #workerId: string;

  private constructor(client: WorkerClient, workerId: string) {
    this.#client = client;
    this.#workerId = workerId;
  }

  static async register({ url, workerToken }: StackReport['hosted'], name: string, taskTypes: TaskType[]) {
    const client = createWorkerClient({ server: url, token: workerToken, log: silentLogger });
    const { workerId } = await client.register({ name, taskTypes }, NEVER);
    return new ScriptedWorker(client, workerId);
  }

  /** @param waitMs how long it waits for a task. @returns null when there is none for it. */
  claim(taskType: TaskType, waitMs = 0): Promise<Task | null> {
    return this.#client.claim({ workerId: this.#workerId, taskTypes: [taskType], waitMs }, NEVER);
  }

  /** Claims a task and reports its outcome. @param report may depend on the task. @throws Error when none comes. */
  async perform(taskType: TaskType, report: (task: Task) => Completion | Promise<Completion>): Promise<Task> {
    const task = await this.claim(taskType, TASK_WITHIN_MS);
    if (task === null) throw new Error(`no task to ${taskType} within ${TASK_WITHIN_MS} ms`);
    await this.#client.start(task, NEVER);
    await this.#client.complete(task, await report(task), NEVER);
    return task;
  }
}
