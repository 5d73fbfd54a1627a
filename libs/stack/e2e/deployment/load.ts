import { sleep } from '@pipeline/runtime';
import { isClaimGone } from '@pipeline/worker';
import { type Host, SLUG } from '../../test/replicas/host.ts';
import { type Push, RovingWorker } from '../../test/replicas/worker.ts';

const ACTION_EVERY_MS = 200;
/** Well below the lease: a busy machine delays heartbeats. */
const HEARTBEAT_EVERY_MS = 10_000;
const ACTION_WITHIN_MS = 30_000;

/** Times of acknowledgements, by `performance.now()`. */
interface Acknowledged {
  /** Ids of reported tasks. */
  reports: Map<string, number>;
  /** Ids of claimed tasks. */
  claims: Map<string, number>;
  /** Accepted actions of the operator. */
  actions: number[];
}

/** Target of the requests. */
interface LoadTarget {
  host: Host;
  apis: readonly { url: string }[];
  monitors: readonly { url: string }[];
  /** Token of a worker. */
  token: string;
}

interface LoadOptions {
  /** Number of the issue that only the operator changes; null = no operator. */
  operated: number | null;
  /** Headers of the operator; none for a monitor without authentication. */
  headers?: Record<string, string>;
}

/** Workers and an operator that work until `stop`. Everything acknowledged to them must be in the store. */
export class Load {
  readonly acknowledged: Acknowledged = { reports: new Map(), claims: new Map(), actions: [] };
  /** True = the operator's issue is paused, according to the last acknowledged action. */
  isPaused = false;
  /** True while the result of the last action is unknown. */
  isUncertain = false;
  readonly #deployment: LoadTarget;
  readonly #operated: number | null;
  readonly #headers: Record<string, string>;
  readonly #stopping = new AbortController();
  readonly #failed = new AbortController();
  readonly #working: Promise<void>[] = [];
  readonly #heads = new Map<number, string>();
  #pushed: Promise<unknown> = Promise.resolve();

  constructor(deployment: LoadTarget, { operated, headers = {} }: LoadOptions) {
    this.#deployment = deployment;
    this.#operated = operated;
    this.#headers = headers;
  }

  /** Aborted by the first error that no retry of the worker's client has covered, with it as the reason. */
  get failed(): AbortSignal {
    return this.#failed.signal;
  }

  async start(workers: number): Promise<void> {
    const registered = await Promise.all(Array.from({ length: workers }, (_, n) => this.#worker(`rover-${n + 1}`)));
    for (const worker of registered) this.#run(this.#work(worker));
    if (this.#operated !== null) this.#run(this.#operate(this.#operated));
  }

  /** @throws the error that `failed` has as its reason. */
  async stop(): Promise<void> {
    await this.close();
    this.failed.throwIfAborted();
  }

  /** Ends the work without an error. */
  async close(): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#working);
  }

  #run(work: Promise<void>): void {
    this.#working.push(work.catch((error: unknown) => this.#failed.abort(error)));
  }

  async #worker(name: string): Promise<RovingWorker> {
    const { apis, host, token } = this.#deployment;
    const urls = apis.map(({ url }) => url);
    const shared = { push: this.#inTurn(host.push), signal: this.#stopping.signal, heads: this.#heads };
    const worker = new RovingWorker(urls, token, shared);
    await worker.register(name);
    return worker;
  }

  /** The clone that commits are made in is one folder. */
  #inTurn(push: Push): Push {
    return (branch) => {
      const pushed = this.#pushed.then(() => push(branch));
      this.#pushed = pushed.catch(() => undefined);
      return pushed;
    };
  }

  async #work(worker: RovingWorker): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      try {
        const task = await worker.claim(1_000);
        if (!task) continue;
        this.acknowledged.claims.set(task.id, performance.now());
        const done = new AbortController();
        const beating = this.#beat(worker, task, AbortSignal.any([done.signal, signal]));
        try {
          await worker.finish(task, await worker.outcomeOf(task));
        } finally {
          done.abort();
          await beating;
        }
        this.acknowledged.reports.set(task.id, performance.now());
      } catch (error) {
        // The lease has ended: the task is for another worker.
        if (!signal.aborted && !isClaimGone(error)) throw error;
      }
    }
  }

  /** A lost heartbeat is repaired by the next one. */
  async #beat(worker: RovingWorker, task: Parameters<RovingWorker['finish']>[0], signal: AbortSignal): Promise<void> {
    while (await sleep(HEARTBEAT_EVERY_MS, signal)) await worker.heartbeat(task).catch(() => undefined);
  }

  /** Pauses and resumes the issue, on one monitor after the other. */
  async #operate(issue: number): Promise<void> {
    const { monitors } = this.#deployment;
    const { signal } = this.#stopping;
    for (let turn = 0; !signal.aborted; turn += 1) {
      const monitor = monitors[turn % monitors.length];
      const path = `/api/issues/${SLUG}/${issue}/${this.isPaused ? 'resume' : 'pause'}`;
      this.isUncertain = true;
      const deadline = AbortSignal.any([signal, AbortSignal.timeout(ACTION_WITHIN_MS)]);
      const response = await fetch(`${monitor?.url}${path}`, {
        method: 'POST',
        headers: this.#headers,
        signal: deadline,
      }).catch(() => null);
      await response?.text().catch(() => undefined);
      if (response?.ok) {
        this.isPaused = !this.isPaused;
        this.isUncertain = false;
        this.acknowledged.actions.push(performance.now());
      }
      await sleep(ACTION_EVERY_MS, signal);
    }
  }
}
