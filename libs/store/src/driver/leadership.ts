import type { Session } from './direct-connection.ts';

/** Proof of leadership. Writes that name an outdated epoch are refused (see `assertLeader`). */
export interface Fence {
  /** Name of the leader lock. */
  readonly name: string;
  /** Fencing token: each change of leader increments it. */
  readonly epoch: number;
  /**
   * False once the lock is lost, or when the server may have ended the session because it received nothing for too
   * long. Costs no I/O: check it before every effect outside the store.
   */
  isHeld(): boolean;
}

export interface Lease extends Fence {
  /** Releases the lock. Does nothing when it is already lost. */
  release(): Promise<void>;
}

const RELEASE = `select pg_advisory_unlock(hashtextextended('pipeline.lead:' || $1, 0))`;

/**
 * Leader locks of one session, as session advisory locks: the server releases them when the session ends for whatever
 * reason; the session of a frozen process ends by `idle_session_timeout`. A name is held once per process too, although
 * the server would grant its own session a lock twice.
 */
export class Leadership {
  readonly #holder: string;
  readonly #held = new Map<string, () => void>();

  /** @param holder name of this process, stored with the epoch for operators. */
  constructor(holder: string) {
    this.#holder = holder;
  }

  /** @returns null while another session or this process holds the name, or there is no session. */
  async tryLead(session: Session | null, name: string, onLost: () => void): Promise<Lease | null> {
    if (session === null || this.#held.has(name)) return null;
    this.#held.set(name, onLost);
    const isOurs = () => this.#held.get(name) === onLost;
    const forget = () => isOurs() && this.#held.delete(name);
    try {
      const { rows } = await session.query<{ epoch: string | null }>('select pipeline.take_leader($1, $2) as epoch', [
        name,
        this.#holder,
      ]);
      const epoch = rows[0]?.epoch ?? null;
      // The session may have ended before the response arrived.
      if (epoch !== null && isOurs()) {
        const release = async () => {
          if (forget()) await session.query(RELEASE, [name]);
        };
        return { name, epoch: Number(epoch), isHeld: () => isOurs() && session.isConfirmed(), release };
      }
      forget();
      return null;
    } catch (error) {
      forget();
      throw error;
    }
  }

  /** The session ended, and every leader lock with it. */
  lose(): void {
    const lost = [...this.#held.values()];
    this.#held.clear();
    for (const onLost of lost) onLost();
  }
}
