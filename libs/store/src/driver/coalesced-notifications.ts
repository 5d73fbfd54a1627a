import { sleep } from '@pipeline/runtime/sleep';

/** Tenants whose rows changed; null = any tenant. */
export type NotifiedTenants = readonly number[] | null;

const WINDOW_MS = 5;

/**
 * Coalesces the notifications of one channel. Idle -(notification: sent immediately)-> window of 5 ms that collects
 * notifications -(some collected: sent as one)-> window, -(none)-> idle. So a single one is not delayed, and a burst is
 * 200 a second.
 */
export class CoalescedNotifications {
  readonly #send: (tenants: NotifiedTenants) => void;
  readonly #signal: AbortSignal;
  readonly #sleep: typeof sleep;
  #gathered: Set<number> | 'all' | undefined;
  #window: Promise<void> | undefined;

  constructor(send: (tenants: NotifiedTenants) => void, signal: AbortSignal, wait = sleep) {
    this.#send = send;
    this.#signal = signal;
    this.#sleep = wait;
  }

  notify(tenants: NotifiedTenants): void {
    if (this.#window) {
      this.#gather(tenants);
      return;
    }
    this.#send(tenants);
    this.#window = this.#closeWindow();
  }

  /** The end of the open window; resolves immediately when the signal is aborted. */
  settled(): Promise<void> {
    return this.#window ?? Promise.resolve();
  }

  #gather(tenants: NotifiedTenants): void {
    if (tenants === null || this.#gathered === 'all') {
      this.#gathered = 'all';
      return;
    }
    this.#gathered ??= new Set();
    for (const tenantId of tenants) this.#gathered.add(tenantId);
  }

  async #closeWindow(): Promise<void> {
    do {
      await this.#sleep(WINDOW_MS, this.#signal);
      const gathered = this.#gathered;
      if (gathered === undefined) break;
      this.#gathered = undefined;
      this.#send(gathered === 'all' ? null : [...gathered]);
    } while (!this.#signal.aborted);
    this.#window = undefined;
  }
}
