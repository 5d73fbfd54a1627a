import type { Session } from './direct-connection.ts';

export interface Lease {
  readonly name: string;
  /** Gives the lead away. Does nothing when it is lost already. */
  release(): Promise<void>;
}

const KEY = `hashtextextended('pipeline.lead:' || $1, 0)`;

/**
 * Leads held by one session, as session advisory locks: the server takes them back when the session ends, however it
 * ends. A name is held once per process too, though the server would grant its own session a lock twice.
 */
export class Leadership {
  readonly #held = new Map<string, () => void>();

  /** @returns null while another session or this process holds the name, or there is no session. */
  async tryLead(session: Session | null, name: string, onLost: () => void): Promise<Lease | null> {
    if (session === null || this.#held.has(name)) return null;
    this.#held.set(name, onLost);
    const forget = () => this.#held.get(name) === onLost && this.#held.delete(name);
    try {
      const { rows } = await session.query<{ held: boolean }>(`select pg_try_advisory_lock(${KEY}) as held`, [name]);
      // The session may have ended while the answer was on its way.
      const held = rows[0]?.held === true && this.#held.get(name) === onLost;
      if (!held) {
        forget();
        return null;
      }
    } catch (error) {
      forget();
      throw error;
    }
    return {
      name,
      release: async () => {
        if (forget()) await session.query(`select pg_advisory_unlock(${KEY})`, [name]);
      },
    };
  }

  /** The session is gone, and every lead with it. */
  lose(): void {
    const lost = [...this.#held.values()];
    this.#held.clear();
    for (const onLost of lost) onLost();
  }
}
