import type { Session } from './direct-connection.ts';

/** One period for which this process leads the monitors of a deployment. */
export interface Term {
  /** Fencing token: each change of leader increments it. Writes with an outdated one are refused (`assertLeader`). */
  readonly epoch: number;
  /** Fires when the term ends. After a freeze it may fire late: `isHeld` is false at once. */
  readonly signal: AbortSignal;
  /**
   * False once the lock is lost, or when the server may have ended the session because it received nothing for too
   * long. Costs no I/O: check it before every effect outside the store.
   */
  isHeld(): boolean;
  /** Ends it and releases the lock. Does nothing when it has ended. */
  end(): void;
}

/** Name of the lock's row in `leaders`. */
export const LEADER = 'monitor';

const RELEASE = `select pg_advisory_unlock(hashtextextended('pipeline.lead:' || $1, 0))`;

/**
 * The leader lock as a session advisory lock: the server releases it when the session ends for whatever reason; the
 * session of a frozen process ends by `idle_session_timeout`.
 *
 * not leading -(lead, granted)-> leading -(session lost, not confirmed in time, ended)-> not leading
 */
export class Leadership {
  readonly #holder: string;
  #term: Term | null = null;
  #taking: Promise<Term | null> | undefined;

  /** @param holder name of this process, stored with the epoch for operators. */
  constructor(holder: string) {
    this.#holder = holder;
  }

  get isHeld(): boolean {
    return this.#term?.isHeld() ?? false;
  }

  /** @returns the current term, or a new one; null while another process leads or there is no session. */
  async lead(session: Session | null): Promise<Term | null> {
    if (this.#term?.isHeld()) return this.#term;
    this.#term?.end();
    if (session === null) return null;
    // Loops that ask at the same time get one answer: the server would grant its own session the lock twice.
    this.#taking ??= this.#take(session).finally(() => {
      this.#taking = undefined;
    });
    return this.#taking;
  }

  async #take(session: Session): Promise<Term | null> {
    const { rows } = await session.query<{ epoch: string | null }>('select pipeline.take_leader($1, $2) as epoch', [
      LEADER,
      this.#holder,
    ]);
    const epoch = rows[0]?.epoch ?? null;
    // The session may have ended before the response arrived.
    if (epoch === null || !session.isOpen) return null;
    const ended = new AbortController();
    this.#term = {
      epoch: Number(epoch),
      signal: ended.signal,
      isHeld: () => !ended.signal.aborted && session.isConfirmed(),
      end: () => {
        if (ended.signal.aborted) return;
        ended.abort();
        // A lock that ends before its session must not stay with it.
        if (session.isOpen) void session.query(RELEASE, [LEADER]).catch(() => undefined);
      },
    };
    return this.#term;
  }

  /** The session ended, and the lock with it. */
  lose(): void {
    this.#term?.end();
    this.#term = null;
  }
}
