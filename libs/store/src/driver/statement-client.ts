import pg from 'pg';

const MARK = /^\/\*prepared:([a-z0-9-]{1,60})\*\//;

/** Marks a statement text to be run as a named prepared statement. The mark is a comment, so it shows in pg_stat_activity. */
export const markPrepared = (name: string, text: string): string => {
  const marked = `/*prepared:${name}*/ ${text}`;
  if (!MARK.test(marked))
    throw new Error(`"${name}" is not a statement name: use a-z, 0-9 and -, at most 60 characters`);
  return marked;
};

/** The name under which a statement runs; undefined = it is not marked, and has none. */
export const preparedName = (text: string): string | undefined =>
  text.startsWith('/*p') ? MARK.exec(text)?.[1] : undefined;

/** Called with each statement text before it is sent. `session` is the same object for all statements of a connection. */
export type StatementListener = (text: string, session: object) => void;

type Query = (text: unknown, values?: unknown, callback?: unknown) => unknown;

/** A statement as pg queues it. Given its parts, pg would copy them by their property descriptors: 2.7 % of Node's time for a small read. */
function statementOf(text: string, parameters: unknown, done: unknown): pg.Query {
  const Statement = pg.Query as unknown as new (...parts: unknown[]) => pg.Query & { name: string | undefined };
  const statement = new Statement(text, parameters, done);
  statement.name = preparedName(text);
  return statement;
}

/**
 * A pg client that sends marked texts as named prepared statements. Kysely passes only text and values to the driver;
 * the name is part of the text, so neither Kysely nor its transactions need to know it. pg refuses a name that is used
 * again with another text. Concurrent statements are sent together (pg's `pipeline`).
 */
export function statementClient(onStatement: StatementListener | undefined): typeof pg.Client {
  class StatementClient extends pg.Client {
    #holds = false;

    /** Statements issued before the next turn are sent in one packet: a write costs more than its bytes. */
    holdTogether(): void {
      if (this.#holds) return;
      this.#holds = true;
      const { stream } = this.connection;
      stream.cork();
      process.nextTick(() => {
        this.#holds = false;
        stream.uncork();
      });
    }
  }
  const plain = pg.Client.prototype.query as Query;
  const query: Query = function (this: StatementClient, text, values, callback) {
    if (typeof text !== 'string') return plain.call(this, text, values, callback);
    this.holdTogether();
    onStatement?.(text, this);
    const [parameters, done] = typeof values === 'function' ? [undefined, values] : [values, callback];
    if (done !== undefined) return plain.call(this, statementOf(text, parameters, done));
    // Not the promise of pg: that keeps each result in memory until the whole heap is collected (decision 0030).
    return new Promise((resolve, reject) => {
      const settle = (error: unknown, result: unknown) => (error ? reject(error) : resolve(result));
      plain.call(this, statementOf(text, parameters, settle));
    });
  };
  StatementClient.prototype.query = query as typeof StatementClient.prototype.query;
  return StatementClient;
}
