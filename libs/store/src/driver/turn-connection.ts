import type { CompiledQuery, DatabaseConnection, QueryResult } from 'kysely';
import { combine, dependsOn, type Footprint, footprintOf, WriteQuery } from './writes.ts';

interface Issued {
  query: CompiledQuery;
  resolve(result: QueryResult<unknown> | Promise<QueryResult<unknown>>): void;
}

const NO_RESULT: QueryResult<unknown> = { rows: [] };

/**
 * The connection of a transaction. Writes whose result is not read (`preparedWrite`) wait until the transaction ends or
 * a statement needs them; they are then sent as one statement, as each statement costs the server and this process more
 * than its rows do. Results and effects are those of the statements one by one: of the waiting writes none names a
 * table that an earlier one writes, a read overtakes them only if it names no table that they write, and everything
 * else, such as a statement that locks, is sent after them. Several changes of one row become one (`mergedWith`). A
 * waiting write settles at once; if it fails, so does the transaction, and everything combined with it.
 */
export class TurnConnection implements DatabaseConnection {
  readonly #connection: DatabaseConnection;
  readonly #onSent: (statement: Promise<unknown>) => void;
  #issued: Issued[] = [];
  #waiting: WriteQuery[] = [];

  /** @param onSent gets each statement of writes, of which the transaction reports the failure. */
  constructor(connection: DatabaseConnection, onSent: (statement: Promise<unknown>) => void) {
    this.#connection = connection;
    this.#onSent = onSent;
  }

  executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    if (this.#issued.length === 0) process.nextTick(() => this.#sendTurn());
    return new Promise<QueryResult<unknown>>((resolve) => {
      this.#issued.push({ query, resolve });
    }) as Promise<QueryResult<R>>;
  }

  streamQuery<R>(query: CompiledQuery, chunkSize: number): AsyncIterableIterator<QueryResult<R>> {
    this.flush();
    return this.#connection.streamQuery(query, chunkSize);
  }

  /** Sends everything that was issued and not yet sent. */
  flush(): void {
    this.#sendTurn();
    this.#send(this.#waiting);
  }

  /** Sends the statements of this turn, except for writes that can wait. */
  #sendTurn(): void {
    const issued = this.#issued;
    this.#issued = [];
    for (const { query, resolve } of issued) {
      if (query instanceof WriteQuery) {
        this.#add(query);
        resolve(NO_RESULT);
      } else {
        this.#send(neededBefore(query.sql, this.#waiting));
        resolve(this.#connection.executeQuery(query));
      }
    }
  }

  #add(query: WriteQuery): void {
    for (const [at, earlier] of this.#waiting.entries()) {
      const merged = earlier.mergedWith(query);
      if (!merged) continue;
      this.#waiting[at] = merged;
      return;
    }
    this.#send(withEarlier(this.#waiting, (earlier) => dependsOn(query.write, earlier)));
    this.#waiting.push(query);
  }

  #send(writes: readonly WriteQuery[]): void {
    if (writes.length === 0) return;
    this.#waiting = this.#waiting.filter((write) => !writes.includes(write));
    this.#onSent(this.#connection.executeQuery(combine(writes)));
  }
}

const footprints = new Map<string, Footprint>();
const LOCKS = /\bfor (no key )?(update|share)\b/;

/** The waiting writes that must be sent before a statement with a result: for anything but a prepared read, all. */
function neededBefore(text: string, waiting: readonly WriteQuery[]): readonly WriteQuery[] {
  // Other statements have too many texts to keep their footprints, and may be commands.
  if (waiting.length === 0 || !text.startsWith('/*prepared:') || LOCKS.test(text)) return waiting;
  const own = footprints.get(text) ?? footprintOf(text);
  footprints.set(text, own);
  if (own.writes.size > 0) return waiting;
  return withEarlier(waiting, (write) => dependsOn(own, write));
}

/** The writes that are needed, and the earlier ones that would read what these write. */
function withEarlier(waiting: readonly WriteQuery[], isNeeded: (write: Footprint) => boolean): readonly WriteQuery[] {
  const needed: WriteQuery[] = [];
  for (const query of waiting.toReversed()) {
    const mustPrecede = needed.some((later) => dependsOn(query.write, later.write));
    if (mustPrecede || isNeeded(query.write)) needed.unshift(query);
  }
  return needed;
}
