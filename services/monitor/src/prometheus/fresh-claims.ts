import { claimsSince, type Store } from '@pipeline/store';

/** A claim is seen at the latest so long after its own time: what commits late is found by the next look. */
const OVERLAP_MS = 60_000;

/**
 * Finds each claim of the deployment once, from the first look on: every look goes back before the last one, and
 * leaves out what that one saw. Keeps the ids of about a minute.
 */
export class FreshClaims {
  readonly #store: Store;
  readonly #agents: readonly string[];
  #seen: Set<number> | null = null;
  #from: string | null = null;

  constructor(store: Store, agents: readonly string[]) {
    this.#store = store;
    this.#agents = agents;
  }

  /** @param now the store's. @returns how long the task of each waited, in seconds; nothing at the first look. */
  async look(now: string): Promise<number[]> {
    const before = new Date(Date.parse(now) - OVERLAP_MS).toISOString();
    const found = await claimsSince(this.#store.fleet, { from: this.#from ?? before, agents: this.#agents });
    const seen = this.#seen;
    this.#seen = new Set(found.map(({ id }) => id));
    this.#from = before;
    return seen === null ? [] : found.filter(({ id }) => !seen.has(id)).map(({ seconds }) => Math.max(0, seconds));
  }
}
