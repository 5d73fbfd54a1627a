import {
  type DatabaseConnection,
  type Dialect,
  type Driver,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
} from 'kysely';

/** What the statements of one turn run on. */
interface Shared {
  connection: Promise<DatabaseConnection>;
  users: number;
}

/**
 * Gives all statements that are asked for in one turn of the event loop the same connection, so that they leave in one
 * packet: for a short statement, writing to the socket and waking the server cost more than all the rest. While every
 * connection is taken, those that come join the ones that wait. The server runs them one after the other, each for itself:
 * one that fails stops no other, one that is slow holds up those behind it. For short statements, therefore, and never
 * for transactions.
 */
export class SharingDriver implements Driver {
  /** Whose connections they are. */
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
    if (shared === undefined) throw new TypeError('a connection that nobody shares is released');
    shared.users -= 1;
    if (shared.users > 0) return;
    this.#shared.delete(connection);
    await this.#owner.releaseConnection(connection);
  }

  async beginTransaction(): Promise<void> {
    throw new TypeError('a transaction needs a connection of its own, not one that others share');
  }

  commitTransaction = this.beginTransaction;
  rollbackTransaction = this.beginTransaction;

  /** Ends the owner's connections, unless it has. */
  destroy(): Promise<void> {
    return this.#owner.destroy();
  }
}

/** Postgres through a driver that is there already. */
export const dialectOf = (driver: Driver): Dialect => ({
  createAdapter: () => new PostgresAdapter(),
  createDriver: () => driver,
  createIntrospector: (db) => new PostgresIntrospector(db),
  createQueryCompiler: () => new PostgresQueryCompiler(),
});
