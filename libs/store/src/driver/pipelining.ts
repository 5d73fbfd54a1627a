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

/** Begins transactions without waiting for the server's word on it: what follows is sent behind it at once. */
export class PipeliningDriver extends PostgresDriver {
  readonly #begun = new WeakMap<DatabaseConnection, Promise<unknown>>();

  override async beginTransaction(connection: DatabaseConnection, settings: TransactionSettings): Promise<void> {
    const level = settings.isolationLevel ? ` isolation level ${settings.isolationLevel}` : '';
    const begun = connection.executeQuery(CompiledQuery.raw(`start transaction${level}`));
    // It fails with its connection, as all that follows then does. The commit tells of any other failure.
    begun.catch(() => undefined);
    this.#begun.set(connection, begun);
  }

  override async commitTransaction(connection: DatabaseConnection): Promise<void> {
    await super.commitTransaction(connection);
    await this.#begun.get(connection);
  }
}

/** What a transaction that only sends statements needs of a dialect and a driver: nothing. */
const dialect = new PostgresDialect({
  pool: async () => Promise.reject(new TypeError('a transaction has its own connection')),
});

/**
 * The same transaction, sending each statement when it is asked for. Kysely's own waits for the answer of the one before;
 * statements that do not need each other's answers then cost a round trip each. The server runs them in the order in which
 * they were sent, and after one that fails refuses the others.
 */
export function pipelined(tx: Tx, connection: DatabaseConnection): Tx {
  const executor = tx.getExecutor().withConnectionProvider({ provideConnection: (consumer) => consumer(connection) });
  return new Transaction<DB>({ config: { dialect }, dialect, driver: new DummyDriver(), executor });
}
