import type { Readiness } from '@pipeline/contract';
import { type Logger, type LoopMetrics, type Periodic, runPeriodically, withDeadline } from '@pipeline/runtime';
import { isUnavailable, type Store, schemaStatus } from '@pipeline/store';

const EVERY_MS = 2_000;
/** As long as a pool waits for a connection: a busy store is not a lost one. */
const DEADLINE_MS = 5_000;

export type StoreState = Extract<Readiness['store'], 'connected' | 'unreachable' | 'outdated'>;

/** Knows whether the store can be used, so that requests are refused at once while it is gone and served when it is back. */
export class StoreWatch {
  readonly loop: Periodic;
  readonly #store: Store;
  readonly #log: Logger;
  #state: StoreState = 'unreachable';
  #checking: Promise<StoreState> | undefined;

  constructor({ store, log, metrics }: { store: Store; log: Logger; metrics: LoopMetrics }) {
    this.#store = store;
    this.#log = log;
    this.loop = runPeriodically(() => this.check(), { name: 'store-watch', everyMs: EVERY_MS, log, metrics });
  }

  get state(): StoreState {
    return this.#state;
  }

  /** Looks now; checks at the same time are one check. On the fleet pool, which requests do not use up. */
  check(): Promise<StoreState> {
    this.#checking ??= this.#look().finally(() => {
      this.#checking = undefined;
    });
    return this.#checking;
  }

  async #look(): Promise<StoreState> {
    try {
      const { ok, current, latest } = await withDeadline(schemaStatus(this.#store.fleet), DEADLINE_MS, 'the store');
      this.#become(ok ? 'connected' : 'outdated', { schema: current, needed: latest });
    } catch (error) {
      this.#become('unreachable', isUnavailable(error) ? { cause: String(error) } : { error });
    }
    return this.#state;
  }

  #become(state: StoreState, fields: Record<string, unknown>): void {
    if (state === this.#state) return;
    this.#state = state;
    if (state === 'connected') this.#log.info('store connected', fields);
    else this.#log.error(`store ${state}: requests are refused until that changes`, fields);
  }
}
