import type { DatabaseConnection, Driver } from 'kysely';
import { isUnavailable } from './store-errors.ts';

/** Time for which a replica that refused a connection is not tried again. */
export const REPLICA_REST_MS = 10_000;

/**
 * Connections of the replica; of the primary while the replica refuses them. After the rest, one connection tries the
 * replica while the others still use the primary.
 */
export class ReplicaDriver implements Driver {
  readonly #replica: Driver;
  readonly #primary: Driver;
  readonly #onError: ((error: unknown) => void) | undefined;
  readonly #ofReplica = new WeakSet<DatabaseConnection>();
  #restsUntil: number | null = null;

  constructor(replica: Driver, primary: Driver, onError?: (error: unknown) => void) {
    this.#replica = replica;
    this.#primary = primary;
    this.#onError = onError;
  }

  get isUsed(): boolean {
    return this.#restsUntil === null;
  }

  async init(): Promise<void> {
    await Promise.all([this.#replica.init(), this.#primary.init()]);
  }

  async acquireConnection(): Promise<DatabaseConnection> {
    if (this.#restsUntil !== null && performance.now() < this.#restsUntil) return this.#primary.acquireConnection();
    if (this.#restsUntil !== null) this.#rest();
    try {
      const connection = await this.#replica.acquireConnection();
      this.#ofReplica.add(connection);
      this.#restsUntil = null;
      return connection;
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      this.#rest();
      this.#onError?.(error);
      return this.#primary.acquireConnection();
    }
  }

  #rest(): void {
    this.#restsUntil = performance.now() + REPLICA_REST_MS;
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

  /** Ends the primary's connections as well: a Kysely that has sent nothing itself does not. */
  async destroy(): Promise<void> {
    await Promise.all([this.#replica.destroy(), this.#primary.destroy()]);
  }

  #of(connection: DatabaseConnection): Driver {
    return this.#ofReplica.has(connection) ? this.#replica : this.#primary;
  }
}
