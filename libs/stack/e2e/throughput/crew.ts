import { isClaimGone } from '@pipeline/worker';
import type { Host } from '../../test/replicas/host.ts';
import { type Push, RovingWorker } from '../../test/replicas/worker.ts';

const WAIT_MS = 5_000;

interface CrewOptions {
  /** URL of the hosted API. */
  url: string;
  token: string;
  host: Host;
}

/** Workers that claim, start and report each task once, at once. */
export class Crew {
  readonly #options: CrewOptions;
  readonly #stopping = new AbortController();
  readonly #heads = new Map<number, string>();
  #working: Promise<void>[] = [];
  #pushed: Promise<unknown> = Promise.resolve();

  constructor(options: CrewOptions) {
    this.#options = options;
  }

  async start(count: number): Promise<void> {
    const { url, token } = this.#options;
    const { signal } = this.#stopping;
    for (let n = 0; n < count; n += 1) {
      const worker = new RovingWorker([url], token, { push: this.#push, signal, heads: this.#heads });
      await worker.register(`rover-${n + 1}`);
      this.#working.push(this.#work(worker));
    }
  }

  /** @throws the first error of a worker. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#working);
  }

  async #work(worker: RovingWorker): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      try {
        const task = await worker.claim(WAIT_MS);
        if (!task) continue;
        await worker.start(task);
        await worker.report(task, await worker.outcomeOf(task));
      } catch (error) {
        if (!signal.aborted && !isClaimGone(error)) throw error;
      }
    }
  }

  /** The clone that commits are made in is one folder: one after the other. */
  readonly #push: Push = (branch) => {
    const pushed = this.#pushed.then(() => this.#options.host.push(branch));
    this.#pushed = pushed.catch(() => undefined);
    return pushed;
  };
}
