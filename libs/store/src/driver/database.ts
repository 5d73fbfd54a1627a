import type { Kysely, Transaction, UpdateObject } from 'kysely';
import type { DB } from './database.generated.ts';

/** A pool or a transaction. */
export type Db = Kysely<DB>;

export type Tx = Transaction<DB>;

/** Columns to change in a table; values may be expressions, such as the store's clock. */
export type Change<T extends keyof DB> = UpdateObject<DB, T, T>;
