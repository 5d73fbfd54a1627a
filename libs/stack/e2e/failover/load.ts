import { sleep } from '@pipeline/runtime';
import { isClaimGone } from '@pipeline/worker';
import { SLUG } from '../../test/replicas/host.ts';
import { type Push, RovingWorker } from '../../test/replicas/worker.ts';
import type { Deployment } from './deployment.ts';

const PAUSE_MS = 50;

/** Moments of acknowledgements, by `performance.now()`. */
interface Acknowledged {
  /** Task ids whose report was accepted, with the moment. */
  reports: Map<string, number>;
  /** Task ids that were handed out. */
  claims: Map<string, number>;
  /** Accepted actions of the operator. */
  actions: number[];
}

/** Workers and an operator at work until `stop`; what was acknowledged to them must be in the store. */
export class Load {
  readonly acknowledged: Acknowledged = { reports: new Map(), claims: new Map(), actions: [] };
  /** Whether the operator's issue is paused, according to the last acknowledged action. */
  isPaused = false;
  /** An action was sent and not acknowledged: it may have been carried out or not. */
  isUncertain = false;
  readonly #deployment: Deployment;
  readonly #issue: number;
  readonly #stopping = new AbortController();
  readonly #working: Promise<unknown>[] = [];
  readonly #heads = new Map<number, string>();
  #pushed: Promise<unknown> = Promise.resolve();

  /** @param issue for the operator alone. */
  constructor(deployment: Deployment, issue: number) {
    this.#deployment = deployment;
    this.#issue = issue;
  }

  async start(workers: number): Promise<void> {
    for (let n = 0; n < workers; n += 1) this.#working.push(this.#work(await this.#worker()));
    this.#working.push(this.#operate());
    // `stop` reports it; unhandled, it would end this process and leave the servers running.
    for (const work of this.#working) work.catch(() => undefined);
  }

  /** @throws the first error that no retry of the worker's client has covered. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#working);
  }

  async #worker(): Promise<RovingWorker> {
    const { apis, host, token } = this.#deployment;
    const urls = apis.map(({ url }) => url);
    const shared = { push: this.#inTurn(host.push), signal: this.#stopping.signal, heads: this.#heads };
    const worker = new RovingWorker(urls, token, shared);
    await worker.register();
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
        await worker.finish(task, await worker.outcomeOf(task));
        this.acknowledged.reports.set(task.id, performance.now());
      } catch (error) {
        // The lease has ended: the task is for another worker.
        if (!signal.aborted && !isClaimGone(error)) throw error;
      }
    }
  }

  /** Pauses and resumes the issue, on one monitor after the other. */
  async #operate(): Promise<void> {
    const { monitors } = this.#deployment;
    for (let turn = 0; !this.#stopping.signal.aborted; turn += 1) {
      const monitor = monitors[turn % monitors.length];
      const path = `/api/issues/${SLUG}/${this.#issue}/${this.isPaused ? 'resume' : 'pause'}`;
      this.isUncertain = true;
      const response = await fetch(`${monitor?.url}${path}`, { method: 'POST' }).catch(() => null);
      await response?.text().catch(() => undefined);
      if (response?.ok) {
        this.isPaused = !this.isPaused;
        this.isUncertain = false;
        this.acknowledged.actions.push(performance.now());
      }
      await sleep(PAUSE_MS);
    }
  }
}
