import type { Db, Tx } from './connection.ts';
import { isRetryable } from './store-errors.ts';

const ATTEMPTS = 5;

/**
 * Runs `work` in one READ COMMITTED transaction and commits what it did, or nothing. After a deadlock or a
 * serialization failure it runs again on a fresh transaction, five times at most, so `work` must have no effect but
 * its statements. There is no pause between attempts: the server has let the losers wait already.
 * Await nothing but statements inside: the server ends a session that idles in a transaction.
 * @throws what `work` throws, after the rollback.
 */
export async function inTransaction<T>(db: Db, work: (tx: Tx) => Promise<T>): Promise<T> {
  if (db.isTransaction) throw new TypeError('inTransaction needs a pool: transactions do not nest');
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await db.transaction().setIsolationLevel('read committed').execute(work);
    } catch (error) {
      if (attempt === ATTEMPTS || !isRetryable(error)) throw error;
    }
  }
}

/** A transaction whose end somebody else decides on. Exactly one of commit and rollback must be called. */
export interface OpenTransaction {
  readonly tx: Tx;
  commit(): Promise<void>;
  rollback(): Promise<void>;
}

/** Begins a READ COMMITTED transaction for code that cannot be a function of it. It is never tried again by itself. */
export async function beginTransaction(db: Db): Promise<OpenTransaction> {
  const tx = await db.startTransaction().setIsolationLevel('read committed').execute();
  return {
    tx,
    commit: () => tx.commit().execute(),
    rollback: () => tx.rollback().execute(),
  };
}
