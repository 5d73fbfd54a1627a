import {
  type Compilable,
  CompiledQuery,
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
  type RawBuilder,
  sql,
} from 'kysely';
import type { DB } from './database.generated.ts';
import type { Db } from './database.ts';
import { markPrepared } from './statement-client.ts';

/** Stands for the value of one parameter while a statement is built. Usable wherever Kysely or `sql` takes a value. */
export type Params<P> = <K extends keyof P & string>(name: K) => RawBuilder<P[K]>;

export interface PreparedStatement<P, R> {
  readonly name: string;
  readonly sql: string;
  /** All rows. `db` is a pool or a transaction. */
  all(db: Db, params: P): Promise<R[]>;
  first(db: Db, params: P): Promise<R | undefined>;
  /** Runs it and counts the rows that it inserted, updated or deleted. */
  run(db: Db, params: P): Promise<number>;
}

class Placeholder {
  readonly key: string;
  constructor(key: string) {
    this.key = key;
  }
}

/** The columns of a prepared statement must not change, as those of `*` would with the next added column. */
const STAR = /(select|returning|\.|,)\s*\*/i;

/** Builds and compiles only; it has no connection. */
const builder = new Kysely<DB>({
  dialect: {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  },
});

/**
 * Builds a statement once, for hot paths. It runs as a named prepared statement: the server parses and plans it once
 * per connection. The text is fixed, so lists are `= any(${p('ids')})` and a choice of columns is two statements.
 *
 *     const byId = prepared('task-by-id', (db, p: Params<{ tenantId: number; id: string }>) =>
 *       db.selectFrom('tasks').select(COLUMNS.tasks).where('tenant_id', '=', p('tenantId')).where('id', '=', p('id')));
 *     const task = await byId.first(tx, { tenantId, id });
 *
 * @param name unique in the store; a-z, 0-9 and -. The same name with another text fails when it runs.
 */
export function prepared<P extends object, R>(
  name: string,
  build: (db: Kysely<DB>, param: Params<P>) => Compilable<R> | RawBuilder<R>,
): PreparedStatement<P, R> {
  const compiled = build(builder, (key) => sql`${new Placeholder(key)}`).compile(builder);
  if (STAR.test(compiled.sql)) throw new Error(`statement ${name} takes "*": name its columns (COLUMNS has them all)`);
  const text = markPrepared(name, compiled.sql);
  const execute = (db: Db, params: P): Promise<QueryResult<R>> => {
    const values = compiled.parameters.map((value) => (value instanceof Placeholder ? argument(params, value) : value));
    return db.executeQuery(CompiledQuery.raw(text, values) as CompiledQuery<R>);
  };
  return {
    name,
    sql: text,
    all: async (db, params) => (await execute(db, params)).rows,
    first: async (db, params) => (await execute(db, params)).rows[0],
    run: async (db, params) => Number((await execute(db, params)).numAffectedRows ?? 0),
  };

  function argument(params: P, { key }: Placeholder): unknown {
    const value = (params as Record<string, unknown>)[key];
    if (value === undefined) throw new TypeError(`statement ${name} lacks its parameter "${key}"`);
    return value;
  }
}
