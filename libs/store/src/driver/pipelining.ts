import {
  CompiledQuery,
  type DatabaseConnection,
  DummyDriver,
  PostgresDialect,
  PostgresDriver,
  Transaction,
  type TransactionSettings,
} from 'kysely';
import type { DB } from './database.generated.ts';
import type { Tx } from './database.ts';

/** Begins transactions without waiting for the server's response: the following statements are sent immediately. */
export class PipeliningDriver extends PostgresDriver {
  readonly #begun = new WeakMap<DatabaseConnection, Promise<unknown>>();

  override async beginTransaction(connection: DatabaseConnection, settings: TransactionSettings): Promise<void> {
    const level = settings.isolationLevel ? ` isolation level ${settings.isolationLevel}` : '';
    const begun = connection.executeQuery(CompiledQuery.raw(`start transaction${level}`));
    // BEGIN fails with its connection, and so does everything after it. The commit reports any other failure.
    begun.catch(() => undefined);
    this.#begun.set(connection, begun);
  }

  override async commitTransaction(connection: DatabaseConnection): Promise<void> {
    await super.commitTransaction(connection);
    await this.#begun.get(connection);
  }
}

/** A dialect and driver for a transaction that only sends statements. */
const dialect = new PostgresDialect({
  pool: async () => Promise.reject(new TypeError('a transaction has its own connection')),
});

/**
 * The same transaction, sending each statement to `connection` when it is issued. Kysely's own waits for the previous
 * response; independent statements then cost a round trip each. After a statement that fails, the server refuses the
 * others.
 */
export function pipelined(tx: Tx, connection: DatabaseConnection): Tx {
  const executor = tx.getExecutor().withConnectionProvider({ provideConnection: (consumer) => consumer(connection) });
  return new Transaction<DB>({ config: { dialect }, dialect, driver: new DummyDriver(), executor });
}
