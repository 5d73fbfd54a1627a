import type { CompiledQuery, DatabaseConnection, QueryResult } from 'kysely';
import { combine, dependsOn, type Footprint, footprintOf, WriteQuery } from './writes.ts';

interface Issued {
  query: CompiledQuery;
  resolve(result: Promise<QueryResult<unknown>>): void;
}

/**
 * The connection of a transaction, for statements that are issued together: it gathers those of one event-loop turn and
 * combines writes whose result nobody reads (`preparedWrite`) into one statement, as each costs the server and this
 * process more than its rows do. Results and effects are those of the statements one by one: a write joins the ones that
 * wait only if it names no table that they write, and a statement with a result is sent before those that wait only if
 * neither names a table that the other writes. If a combined write fails, all of them fail with its error.
 */
export class TurnConnection implements DatabaseConnection {
  readonly #connection: DatabaseConnection;
  #issued: Issued[] = [];

  constructor(connection: DatabaseConnection) {
    this.#connection = connection;
  }

  executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    if (this.#issued.length === 0) process.nextTick(() => this.flush());
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
    const issued = this.#issued;
    this.#issued = [];
    let waiting: Issued[] = [];
    const sendWaiting = () => {
      if (waiting.length > 0) this.#send(waiting);
      waiting = [];
    };
    for (const one of issued) {
      const { query } = one;
      if (query instanceof WriteQuery) {
        if (waiting.some((earlier) => dependsOn(query.write, writeOf(earlier)))) sendWaiting();
        waiting.push(one);
      } else {
        if (!mayOvertake(query.sql, waiting)) sendWaiting();
        one.resolve(this.#connection.executeQuery(query));
      }
    }
    sendWaiting();
  }

  #send(writes: readonly Issued[]): void {
    const result = this.#connection.executeQuery<unknown>(combine(writes.map(({ query }) => query as WriteQuery)));
    for (const { resolve } of writes) resolve(result);
  }
}

const writeOf = ({ query }: Issued): Footprint => (query as WriteQuery).write;

const footprints = new Map<string, Footprint>();

/** Only a prepared statement: others have too many texts to keep their footprints, and may be commands. */
function mayOvertake(text: string, waiting: readonly Issued[]): boolean {
  if (waiting.length === 0) return true;
  if (!text.startsWith('/*prepared:')) return false;
  const own = footprints.get(text) ?? footprintOf(text);
  footprints.set(text, own);
  return waiting.every((earlier) => !dependsOn(own, writeOf(earlier)) && !dependsOn(writeOf(earlier), own));
}
