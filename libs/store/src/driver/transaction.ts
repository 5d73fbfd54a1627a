import type { Db, Tx } from './database.ts';
import { pipelined } from './pipelining.ts';
import { isAfterFailure, isRetryable } from './store-errors.ts';
import { TurnConnection } from './turn-connection.ts';

const ATTEMPTS = 5;

/** Accepts a sent statement whose result only the commit awaits. */
export type Send = (statement: Promise<unknown>) => void;

type TransactionWork<T> = (tx: Tx, send: Send, flush: () => void) => Promise<T>;

/**
 * Runs `work` in one READ COMMITTED transaction and commits all of it, or nothing. After a deadlock or a serialization
 * failure it runs again on a new transaction, five times at most, so `work` must have no effect but its statements.
 * There is no pause between attempts: the server has already made the losers wait. Await nothing but statements inside:
 * the server ends a session that idles in a transaction. Concurrent statements (`Promise.all`) are sent together and
 * run in that order; a statement passed to `send` is not awaited before the following ones. Writes wait for each other
 * (`TurnConnection`) until `flush`, which changes nothing but how they are combined.
 * @throws the error of `work` or of a statement that it sent, after the rollback.
 */
export async function inTransaction<T>(db: Db, work: TransactionWork<T>): Promise<T> {
  if (db.isTransaction) throw new TypeError('inTransaction needs a pool: transactions do not nest');
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await once(db, work);
    } catch (error) {
      if (attempt === ATTEMPTS || !isRetryable(error)) throw error;
    }
  }
}

async function once<T>(db: Db, work: TransactionWork<T>): Promise<T> {
  const sent: Promise<unknown>[] = [];
  const send: Send = (statement) => {
    statement.catch(() => undefined);
    sent.push(statement);
  };
  try {
    return await db
      .transaction()
      .setIsolationLevel('read committed')
      .execute((tx) =>
        tx.getExecutor().provideConnection(async (connection) => {
          const turns = new TurnConnection(connection, send);
          try {
            return await work(pipelined(tx, turns), send, () => turns.flush());
          } finally {
            // Before the commit, or the rollback, which does not pass here.
            turns.flush();
          }
        }),
      );
  } catch (error) {
    throw isAfterFailure(error) ? ((await failureOf(sent)) ?? error) : error;
  }
}

/** The original error of the first failed statement. */
async function failureOf(sent: readonly Promise<unknown>[]): Promise<unknown> {
  for (const end of await Promise.allSettled(sent)) {
    if (end.status === 'rejected' && !isAfterFailure(end.reason)) return end.reason;
  }
  return undefined;
}

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
