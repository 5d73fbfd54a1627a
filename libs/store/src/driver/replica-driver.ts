import type { DatabaseConnection, Driver } from 'kysely';
import { isUnavailable } from './store-errors.ts';

/** State of the replica: whether reads may use it. Set by ReplicaWatch and by a connection that fails. */
export class ReplicaState {
  isUsable = true;
}

/**
 * Connections of the replica while it can be used, otherwise of the primary. A replica that refuses a connection is not
 * tried again until ReplicaWatch has found it usable.
 */
export class ReplicaDriver implements Driver {
  readonly #replica: Driver;
  readonly #primary: Driver;
  readonly #state: ReplicaState;
  readonly #ofReplica = new WeakSet<DatabaseConnection>();

  constructor(replica: Driver, primary: Driver, state: ReplicaState) {
    this.#replica = replica;
    this.#primary = primary;
    this.#state = state;
  }

  async init(): Promise<void> {
    await Promise.all([this.#replica.init(), this.#primary.init()]);
  }

  async acquireConnection(): Promise<DatabaseConnection> {
    if (this.#state.isUsable) {
      try {
        const connection = await this.#replica.acquireConnection();
        this.#ofReplica.add(connection);
        return connection;
      } catch (error) {
        if (!isUnavailable(error)) throw error;
        this.#state.isUsable = false;
      }
    }
    return this.#primary.acquireConnection();
  }

  releaseConnection(connection: DatabaseConnection): Promise<void> {
    return this.#of(connection).releaseConnection(connection);
  }

  beginTransaction(connection: DatabaseConnection, settings: Parameters<Driver['beginTransaction']>[1]): Promise<void> {
    return this.#of(connection).beginTransaction(connection, settings);
  }

  commitTransaction(connection: DatabaseConnection): Promise<void> {
    return this.#of(connection).commitTransaction(connection);
  }

  rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    return this.#of(connection).rollbackTransaction(connection);
  }

  /** Ends the connections of the replica; those of the primary belong to another pool. */
  destroy(): Promise<void> {
    return this.#replica.destroy();
  }

  #of(connection: DatabaseConnection): Driver {
    return this.#ofReplica.has(connection) ? this.#replica : this.#primary;
  }
}
