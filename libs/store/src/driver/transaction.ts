import type { Db, Tx } from './database.ts';
import { pipelined } from './pipelining.ts';
import { isRetryable } from './store-errors.ts';

const ATTEMPTS = 5;

/**
 * Runs `work` in one READ COMMITTED transaction and commits all of it, or nothing. After a deadlock or a serialization
 * failure it runs again on a new transaction, five times at most, so `work` must have no effect but its statements.
 * There is no pause between attempts: the server has already made the losers wait. Await nothing but statements inside:
 * the server ends a session that idles in a transaction. Concurrent statements (`Promise.all`) are sent together and
 * run in that order; all others cost a round trip each. Pass single statements to `Promise.all`: a function that goes on
 * to send others after one has failed would send them after the rollback.
 * @throws the error of `work`, after the rollback.
 */
export async function inTransaction<T>(db: Db, work: (tx: Tx) => Promise<T>): Promise<T> {
  if (db.isTransaction) throw new TypeError('inTransaction needs a pool: transactions do not nest');
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await once(db, work);
    } catch (error) {
      if (attempt === ATTEMPTS || !isRetryable(error)) throw error;
    }
  }
}

const once = <T>(db: Db, work: (tx: Tx) => Promise<T>): Promise<T> =>
  db
    .transaction()
    .setIsolationLevel('read committed')
    .execute((tx) => tx.getExecutor().provideConnection((connection) => work(pipelined(tx, connection))));

/** A transaction that the caller ends. Exactly one of commit and rollback must be called. */
export interface OpenTransaction {
  readonly tx: Tx;
  commit(): Promise<void>;
  rollback(): Promise<void>;
}

/** Begins a READ COMMITTED transaction for code that cannot be passed as a function. It is never retried. */
export async function beginTransaction(db: Db): Promise<OpenTransaction> {
  const tx = await db.startTransaction().setIsolationLevel('read committed').execute();
  return {
    tx,
    commit: () => tx.commit().execute(),
    rollback: () => tx.rollback().execute(),
  };
}
