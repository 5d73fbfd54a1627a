import type { ClaimedTask } from '@pipeline/contract';
import type { TaskType } from '@pipeline/domain';
import { type Logger, type Periodic, runPeriodically, sleep } from '@pipeline/runtime';
import { isUnauthorized, isUnknownWorker, type WorkerClient } from '../client/client.ts';
import { type TaskHandler, TaskRun } from './task-run.ts';

export interface WorkerOptions {
  client: WorkerClient;
  /** Unique within the tenant: a second worker with the same name replaces the first. */
  name: string;
  taskTypes: TaskType[];
  /** `owner/name`; empty = all repos of the token. */
  repos: string[];
  handler: TaskHandler;
  log: Logger;
  /** Number of concurrent tasks, 1 to 100. */
  concurrency?: number;
  /** Sign off after the first task. */
  once?: boolean;
  hostname?: string;
  version?: string;
  labels?: Record<string, string>;
  /** Names of the agents that the handler runs, for repos that compare agents. */
  agents?: readonly string[];
  /** Long-poll time of a claim in milliseconds; at most 30 s. */
  claimWaitMs?: number;
  now?: () => Date;
}

export interface Worker {
  /** Runs until leave() or abandon() is called. @throws ApiFailure when the token is rejected. */
  run(): Promise<void>;
  /** Stops claiming, finishes running tasks, and signs off. */
  leave(): void;
  /** Stops running tasks, releases them as failed, and signs off. */
  abandon(): void;
  /** Number of running tasks. */
  readonly busy: number;
}

const CLAIM_WAIT_MS = 30_000;
const DRAINING_PAUSE_MS = 1_000;
const REFUSED_PAUSE_MS = 5_000;
const HEARTBEAT_JITTER = 0.05;
/** Maximum time for releasing tasks on an immediate stop, in milliseconds. */
const GIVE_BACK_WITHIN_MS = 5_000;

const LEFT = new Error('the worker is signing off');

export const createWorker = (options: WorkerOptions): Worker => new ClaimLoops(options);

// new -(run, registered)-> working -(leave)-> leaving -(last task reported, `leaving` sent)-> left
//   working or leaving -(abandon)-> each task released within 5 s -> left;  any -(401)-> tasks stopped, run() throws
class ClaimLoops implements Worker {
  readonly #options: Required<WorkerOptions>;
  readonly #runs = new Map<string, TaskRun>();
  /** Aborts waiting for tasks. */
  readonly #leaving = new AbortController();
  /** Aborts all requests to the service. */
  readonly #over = new AbortController();
  #workerId = '';
  #leaseMs = 0;
  #draining = false;
  #abandoned = false;
  #registering: Promise<void> | null = null;

  constructor(options: WorkerOptions) {
    this.#options = {
      concurrency: 1,
      once: false,
      hostname: '',
      version: '',
      labels: {},
      agents: [],
      claimWaitMs: CLAIM_WAIT_MS,
      now: () => new Date(),
      ...options,
    };
  }

  get busy(): number {
    return this.#runs.size;
  }

  async run(): Promise<void> {
    const { concurrency, log } = this.#options;
    let heartbeat: Periodic | undefined;
    try {
      const heartbeatIntervalMs = await this.#register(this.#leaving.signal);
      heartbeat = runPeriodically(() => this.#beat(), {
        name: 'heartbeat',
        everyMs: heartbeatIntervalMs,
        jitter: HEARTBEAT_JITTER,
        log,
      });
      heartbeat.start();
      await Promise.all(Array.from({ length: concurrency }, (_, slot) => this.#work(slot)));
      this.#over.signal.throwIfAborted();
      await heartbeat.stop();
      await this.#sayGoodbye();
    } catch (error) {
      // leave() was called before the registration: nothing to do.
      if (error !== LEFT) throw error;
    } finally {
      await heartbeat?.stop();
      this.#over.abort(LEFT);
    }
  }

  leave(): void {
    this.#leaving.abort(LEFT);
  }

  abandon(): void {
    if (this.#abandoned) return;
    this.#abandoned = true;
    this.leave();
    for (const run of this.#runs.values()) run.giveBack();
    void sleep(GIVE_BACK_WITHIN_MS, this.#over.signal).then((whole) => whole && this.#end(LEFT));
  }

  #end(reason: unknown): void {
    this.#leaving.abort(reason);
    this.#over.abort(reason);
    for (const run of this.#runs.values()) run.gone('the worker ends');
  }

  async #register(signal: AbortSignal): Promise<number> {
    const { client, name, hostname, version, repos, taskTypes, labels, agents, log } = this.#options;
    const registration = { name, hostname, version, repos, taskTypes, labels, agents: [...agents] };
    const answer = await client.register(registration, signal);
    this.#workerId = answer.workerId;
    this.#leaseMs = answer.leaseMs;
    log.info('registered', { workerId: answer.workerId, taskTypes, repos });
    return answer.heartbeatIntervalMs;
  }

  /**
   * Registers again after the service has dropped this worker and its claims. Concurrent calls share one registration.
   */
  async #registerAgain(): Promise<void> {
    this.#registering ??= (async () => {
      for (const run of this.#runs.values()) run.gone('the service does not know this worker any more');
      await this.#register(this.#leaving.signal);
    })().finally(() => {
      this.#registering = null;
    });
    await this.#registering;
  }

  /** Runs one slot: claims and processes tasks one after the other. */
  async #work(slot: number): Promise<void> {
    while (!this.#leaving.signal.aborted) {
      try {
        // Drained by an operator: online and idle until it is resumed.
        const task = this.#draining ? await this.#pause(DRAINING_PAUSE_MS) : await this.#claim();
        if (task && this.#options.once) this.leave();
        if (task) await this.#runTask(task, slot);
      } catch (error) {
        await this.#claimFailed(error);
      }
    }
  }

  async #claimFailed(error: unknown): Promise<void> {
    if (isUnauthorized(error)) this.#end(error);
    else if (this.#leaving.signal.aborted) return;
    else if (isUnknownWorker(error)) await this.#registerAgain().catch((refused: unknown) => this.#end(refused));
    else {
      this.#options.log.error('claim failed', { error });
      await this.#pause(REFUSED_PAUSE_MS);
    }
  }

  async #pause(ms: number): Promise<null> {
    await sleep(ms, this.#leaving.signal);
    return null;
  }

  #claim(): Promise<ClaimedTask | null> {
    const { client, taskTypes, repos, agents, claimWaitMs: waitMs } = this.#options;
    const request = { workerId: this.#workerId, taskTypes, repos, agents: [...agents], waitMs };
    return client.claim(request, this.#leaving.signal);
  }

  async #runTask(task: ClaimedTask, slot: number): Promise<void> {
    const { client, handler, now, log } = this.#options;
    const { id: taskId, taskType, repo, issueNumber: issue } = task;
    // An older service sends none.
    const traceId = (task.traceparent as string | undefined)?.split('-')[1];
    const fields = { taskId, taskType, repo, issue, traceId };
    const leaseEndsAt = now().getTime() + this.#leaseMs;
    const taskLog = log.child(fields);
    taskLog.info('task claimed', { attempt: task.attempt });
    const run = new TaskRun({ client, task, handler, slot, log: taskLog, now, signal: this.#over.signal, leaseEndsAt });
    this.#runs.set(task.id, run);
    if (this.#abandoned) run.giveBack();
    try {
      await run.run();
    } finally {
      this.#runs.delete(task.id);
    }
  }

  /** Sends one heartbeat. Without a response for the duration of a lease, the claims may be lost. */
  async #beat(): Promise<void> {
    const { client, now } = this.#options;
    const sentAt = now().getTime();
    const runs = [...this.#runs.values()];
    const tasks = runs.map(({ task }) => ({ taskId: task.id, claimToken: task.claimToken }));
    try {
      const heard = await client.heartbeat(
        { workerId: this.#workerId, status: this.#status(), tasks },
        this.#over.signal,
      );
      this.#draining = heard.draining;
      for (const run of runs) {
        run.leaseEndsAt = sentAt + this.#leaseMs;
        if (heard.cancelTaskIds.includes(run.task.id)) run.gone('withdrawn');
      }
    } catch (error) {
      if (isUnauthorized(error)) return this.#end(error);
      if (isUnknownWorker(error)) return await this.#registerAgain();
      for (const run of runs) if (now().getTime() > run.leaseEndsAt) run.leaseOver();
      throw error;
    }
  }

  /** Returns the status by its own decisions only: the service records a drain by an operator. */
  #status(): 'idle' | 'busy' | 'draining' {
    if (this.#leaving.signal.aborted) return 'draining';
    return this.#runs.size > 0 ? 'busy' : 'idle';
  }

  async #sayGoodbye(): Promise<void> {
    const { client, log } = this.#options;
    try {
      await client.heartbeat({ workerId: this.#workerId, status: 'leaving', tasks: [] }, this.#over.signal);
      log.info('left');
    } catch (error) {
      log.warn('sign-off was not acknowledged', { error });
    }
  }
}
