import { type Engine, fencedBy } from '@pipeline/engine';
import { type Fence, isLeadershipLost, type Lease, type Notifications } from '@pipeline/store';

/** One period of leadership. */
export interface Leading extends Fence {
  /** Fires when the lead is lost. After a freeze it may fire late: `isHeld` is false at once. */
  readonly signal: AbortSignal;
}

/**
 * The lead of one piece of work among all replicas. It is kept from tick to tick and ends with the store's session:
 * not leading -(hold, granted)-> leading -(session lost, or not confirmed in time)-> not leading.
 */
export class Lead {
  readonly #notifications: Notifications;
  readonly #name: string;
  #held: Leading | null = null;
  #end: () => void = () => undefined;

  constructor(notifications: Notifications, name: string) {
    this.#notifications = notifications;
    this.#name = name;
  }

  /**
   * Runs the work if this process leads. What it writes through its engine is fenced: it is refused once another
   * process has taken over. @returns undefined when another replica leads, the store is away or the lead is lost
   * meanwhile. @throws what the work throws.
   */
  async run<T>(engine: Engine, work: (engine: Engine, leading: Leading) => Promise<T>): Promise<T | undefined> {
    const leading = await this.hold();
    if (leading === null) return undefined;
    try {
      return await work(fencedBy(engine, leading), leading);
    } catch (error) {
      if (!isLeadershipLost(error)) throw error;
      this.#end();
      return undefined;
    }
  }

  /** @returns the current leadership; null while another replica leads or the store is away. */
  async hold(): Promise<Leading | null> {
    if (this.#held?.isHeld()) return this.#held;
    this.#end();
    const ended = new AbortController();
    let lease: Lease | null = null;
    const end = () => {
      ended.abort();
      if (this.#end === end) this.#held = null;
      // Lost for this process before the session is: the lock must not stay with it.
      void lease?.release().catch(() => undefined);
    };
    lease = await this.#notifications.tryLead(this.#name, end);
    if (!lease || ended.signal.aborted) return null;
    const { name, epoch } = lease;
    const isHeld = () => !ended.signal.aborted && lease.isHeld();
    this.#held = { name, epoch, signal: ended.signal, isHeld };
    this.#end = end;
    return this.#held;
  }
}
