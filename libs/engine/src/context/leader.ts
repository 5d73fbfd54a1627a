import { isLeadershipLost, LeadershipLostError, type Notifications, type Store, type Term } from '@pipeline/store';
import type { Engine } from './context.ts';

/** An engine for work that only the leader does. */
export type LeadingEngine = Engine & { term: Term };

/**
 * The one leader among all monitors. Its transactions fail when another process has taken over, and every access to the
 * store fails when this process can no longer be sure that it leads, such as after a freeze.
 */
export class Leader {
  readonly #notifications: Pick<Notifications, 'lead'>;

  constructor(notifications: Pick<Notifications, 'lead'>) {
    this.#notifications = notifications;
  }

  /**
   * Runs the work if this process leads.
   * @returns undefined when another process leads, the store is away or the term ends meanwhile.
   * @throws what the work throws.
   */
  async run<T>(engine: Engine, work: (leading: LeadingEngine) => Promise<T>): Promise<T | undefined> {
    const term = await this.#notifications.lead();
    if (term === null) return undefined;
    try {
      return await work({ ...engine, term, store: storeWhileHeld(engine.store, term) });
    } catch (error) {
      if (!isLeadershipLost(error)) throw error;
      term.end();
      return undefined;
    }
  }
}

/** @throws LeadershipLostError when the term has ended. To be called before every effect outside the store. */
export function assertHeld({ term }: Engine): void {
  if (term?.isHeld() === false) throw new LeadershipLostError();
}

const storeWhileHeld = (store: Store, term: Term): Store => ({
  get db() {
    if (!term.isHeld()) throw new LeadershipLostError();
    return store.db;
  },
  get reads() {
    return this.db;
  },
  isReplicaUsed: store.isReplicaUsed,
  ping: () => store.ping(),
  close: () => store.close(),
});
