import type { Doorbell } from '@pipeline/store';

/**
 * The lead of one piece of work among all replicas. It is kept from tick to tick and ends with the store's session:
 * not leading -(hold, granted)-> leading -(session lost)-> not leading.
 */
export class Lead {
  readonly #doorbell: Doorbell;
  readonly #name: string;
  #held: AbortController | null = null;

  constructor(doorbell: Doorbell, name: string) {
    this.#doorbell = doorbell;
    this.#name = name;
  }

  /** @returns a signal that fires when the lead is lost; null while another replica leads or the store is away. */
  async hold(): Promise<AbortSignal | null> {
    if (this.#held) return this.#held.signal;
    const held = new AbortController();
    const lease = await this.#doorbell.tryLead(this.#name, () => {
      held.abort();
      if (this.#held === held) this.#held = null;
    });
    if (!lease || held.signal.aborted) return null;
    this.#held = held;
    return held.signal;
  }
}
