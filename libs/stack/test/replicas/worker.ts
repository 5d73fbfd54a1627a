import { TASK_TYPES } from '@pipeline/domain';
import { silentLogger } from '@pipeline/runtime';
import { type Completion, createWorkerClient, type WorkerClient } from '@pipeline/worker';

type ClaimedTask = NonNullable<Awaited<ReturnType<WorkerClient['claim']>>>;

/** Commits to a branch of the host, and returns the commit. */
export type Push = (branch: string) => Promise<string>;

const EMPTY = { artefacts: [], findings: [], invocations: [] };

interface RovingOptions {
  push: Push;
  signal: AbortSignal;
  /** Default: of this worker alone. */
  heads?: Map<number, string>;
}

/** A worker that talks to another replica with every call. */
export class RovingWorker {
  readonly #clients: WorkerClient[];
  readonly #push: Push;
  readonly #signal: AbortSignal;
  /** Head commit of each issue; workers may share it. */
  readonly heads: Map<number, string>;
  #calls = 0;
  id = '';

  constructor(urls: readonly string[], token: string, { push, signal, heads }: RovingOptions) {
    this.#clients = urls.map((server) => createWorkerClient({ server, token, log: silentLogger }));
    this.#push = push;
    this.heads = heads ?? new Map();
    this.#signal = signal;
  }

  /** @param name of one worker: registering it again releases its claims. */
  async register(name = 'rover'): Promise<void> {
    this.id = (await this.#next().register({ name, taskTypes: [...TASK_TYPES] }, this.#signal)).workerId;
  }

  /** Extends the lease of a task. */
  async heartbeat({ id, claimToken }: ClaimedTask): Promise<void> {
    const tasks = [{ taskId: id, claimToken }];
    await this.#next().heartbeat({ workerId: this.id, status: 'busy', tasks }, this.#signal);
  }

  claim(waitMs = 0): Promise<ClaimedTask | null> {
    return this.#next().claim({ workerId: this.id, taskTypes: [...TASK_TYPES], waitMs }, this.#signal);
  }

  /** One task from its claim to its report. @returns null when there was none. */
  async work(waitMs = 1_000): Promise<ClaimedTask | null> {
    const task = await this.claim(waitMs);
    if (!task) return null;
    await this.start(task);
    await this.finish(task, await this.outcomeOf(task));
    return task;
  }

  /** Reports twice, each time to another replica: the second report must get the same answer and change nothing. */
  async finish(task: ClaimedTask, report: Completion): Promise<void> {
    await this.report(task, report);
    await this.report(task, report);
  }

  async report(task: ClaimedTask, report: Completion): Promise<void> {
    await this.#next().complete(task, report, this.#signal);
  }

  async start(task: ClaimedTask): Promise<void> {
    await this.#next().start(task, this.#signal);
  }

  async outcomeOf({ taskType, issueNumber, payload }: ClaimedTask): Promise<Completion> {
    const number = issueNumber ?? 0;
    switch (taskType) {
      case 'analyze':
        return { outcome: 'analyzed', result: {}, ...EMPTY };
      case 'plan':
        return { outcome: 'planned', result: { plan: 'Do it.', plannedFiles: [] }, ...EMPTY };
      case 'develop': {
        const branch = payload.branch ?? '';
        const headSha = await this.#push(branch);
        this.heads.set(number, headSha);
        return {
          outcome: 'submitted',
          result: { branch, headSha, title: 'Done', body: '', changedFiles: [] },
          ...EMPTY,
        };
      }
      case 'review':
        return { outcome: 'approved', result: { body: 'Good.' }, ...EMPTY };
      case 'merge':
        return { outcome: 'mergeable', result: { headSha: this.heads.get(number) ?? '' }, ...EMPTY };
      case 'retrospect':
        return { outcome: 'retrospective', result: { outcomeClassification: 'success', summary: 'Good.' }, ...EMPTY };
      default:
        return { outcome: 'scanned', result: { files: [], symbols: [] }, ...EMPTY };
    }
  }

  #next(): WorkerClient {
    this.#calls += 1;
    const client = this.#clients[this.#calls % this.#clients.length];
    if (!client) throw new Error('no replica');
    return client;
  }
}
