import { hash } from 'node:crypto';
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
  run(db: Db, params: P): Promise<void>;
  /** Runs it and counts the rows that it inserted, updated or deleted. */
  count(db: Db, params: P): Promise<number>;
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

const placeholder: Params<object> = (key) => sql`${new Placeholder(key)}`;

interface Template {
  readonly text: string;
  readonly parameters: readonly unknown[];
}

const definitions: (() => Template)[] = [];

/** Compiles every statement of the modules that are loaded, and returns how many. @throws Error for the first one that is not valid. */
export function compileAll(): number {
  for (const compile of definitions) compile();
  return definitions.length;
}

/** @throws Error for a statement that takes `*`. */
function templateOf(name: string, built: Compilable | RawBuilder<unknown>): Template {
  const { sql: text, parameters } = built.compile(builder);
  if (STAR.test(text)) throw new Error(`statement ${name} takes "*": name its columns (COLUMNS has them all)`);
  return { text: markPrepared(name, text), parameters };
}

/** @throws TypeError when a parameter of the statement is not given. */
function valuesOf(name: string, parameters: readonly unknown[], params: object): unknown[] {
  return parameters.map((value) => {
    if (!(value instanceof Placeholder)) return value;
    const given = (params as Record<string, unknown>)[value.key];
    if (given === undefined) throw new TypeError(`statement ${name} lacks its parameter "${value.key}"`);
    return given;
  });
}

/**
 * Builds a statement once, when it is first used: there are hundreds, and the start of a service would pay for all. It
 * runs as a named prepared statement: the server parses and plans it once per connection. The text is fixed, so lists are `= any(${p('ids')})` and a choice of columns is two statements.
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
  let template: Template | undefined;
  const compiled = () => {
    template ??= templateOf(name, build(builder, placeholder as Params<P>));
    return template;
  };
  definitions.push(compiled);
  const execute = (db: Db, params: P): Promise<QueryResult<R>> => {
    const { text, parameters } = compiled();
    return db.executeQuery(CompiledQuery.raw(text, valuesOf(name, parameters, params)) as CompiledQuery<R>);
  };
  return {
    name,
    get sql() {
      return compiled().text;
    },
    all: async (db, params) => (await execute(db, params)).rows,
    first: async (db, params) => (await execute(db, params)).rows[0],
    run: async (db, params) => void (await execute(db, params)),
    count: async (db, params) => Number((await execute(db, params)).numAffectedRows ?? 0),
  };
}

/** Marked texts by their own. */
const marked = new Map<string, string>();

/**
 * Runs a statement that has few texts, such as the change of some columns of a row. Each text is a prepared statement,
 * named by a hash of it.
 */
export async function runPrepared(db: Db, kind: string, statement: Compilable): Promise<void> {
  const { sql: text, parameters } = statement.compile();
  const known = marked.get(text) ?? markPrepared(`${kind}-${hash('sha256', text).slice(0, 12)}`, text);
  marked.set(text, known);
  await db.executeQuery(CompiledQuery.raw(known, [...parameters]));
}
