import {
  type DatabaseConnection,
  type Dialect,
  type Driver,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
} from 'kysely';

/** The connection for the statements of one turn. */
interface Shared {
  connection: Promise<DatabaseConnection>;
  users: number;
}

/**
 * Runs all statements issued in one event-loop turn on one connection, in one packet: for a short statement, writing to
 * the socket and waking the server cost more than all the rest. While every connection is in use, new statements join
 * the waiting ones. The server runs them one after the other, each as its own transaction: a failing one does not
 * affect the others, a slow one delays those behind it. So use it for short statements, and never for transactions.
 */
export class SharingDriver implements Driver {
  /** Owner of the connections. */
  readonly #owner: Driver;
  readonly #shared = new Map<DatabaseConnection, Shared>();
  #gathering: Shared | undefined;

  constructor(owner: Driver) {
    this.#owner = owner;
  }

  init(): Promise<void> {
    return this.#owner.init();
  }

  acquireConnection(): Promise<DatabaseConnection> {
    this.#gathering ??= this.#gather();
    this.#gathering.users += 1;
    return this.#gathering.connection;
  }

  #gather(): Shared {
    const checkOut = async () => {
      await new Promise(setImmediate);
      try {
        const connection = await this.#owner.acquireConnection();
        this.#shared.set(connection, shared);
        return connection;
      } finally {
        this.#gathering = undefined;
      }
    };
    const shared = { connection: checkOut(), users: 0 };
    return shared;
  }

  async releaseConnection(connection: DatabaseConnection): Promise<void> {
    const shared = this.#shared.get(connection);
    if (shared === undefined) throw new TypeError('released a connection that is not shared');
    shared.users -= 1;
    if (shared.users > 0) return;
    this.#shared.delete(connection);
    await this.#owner.releaseConnection(connection);
  }

  async beginTransaction(): Promise<void> {
    throw new TypeError('a transaction requires a dedicated connection, not a shared one');
  }

  commitTransaction = this.beginTransaction;
  rollbackTransaction = this.beginTransaction;

  /** Ends the owner's connections, unless that is done. */
  destroy(): Promise<void> {
    return this.#owner.destroy();
  }
}

/** Postgres through an existing driver. */
export const dialectOf = (driver: Driver): Dialect => ({
  createAdapter: () => new PostgresAdapter(),
  createDriver: () => driver,
  createIntrospector: (db) => new PostgresIntrospector(db),
  createQueryCompiler: () => new PostgresQueryCompiler(),
});
