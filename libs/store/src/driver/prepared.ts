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
import {
  defineMerge,
  definePatch,
  defineWrite,
  type PatchedTable,
  PatchQuery,
  type Template,
  type Write,
  WriteQuery,
} from './writes.ts';

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

const placeholder: Params<object> = (key) => sql`${new Placeholder(key)}`;

const definitions: (() => unknown)[] = [];

/** Statements are compiled when they are first used: there are hundreds, and the start of a service would pay for all. */
function compiledOnFirstUse<T>(compile: () => T): () => T {
  let compiled: T | undefined;
  const first = () => {
    compiled ??= compile();
    return compiled;
  };
  definitions.push(first);
  return first;
}

/** Compiles every statement of the modules that are loaded, and returns how many. @throws Error for the first one that is not valid. */
export function compileAll(): number {
  for (const compile of definitions) compile();
  return definitions.length;
}

/** @throws Error for a statement that takes `*`. */
function templateOf(name: string, built: Compilable | RawBuilder<unknown>): Template {
  const { sql: text, parameters } = built.compile(builder);
  if (STAR.test(text)) throw new Error(`statement ${name} takes "*": name its columns (COLUMNS has them all)`);
  return { text, parameters };
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
 * Builds a statement once, when it is first used, for hot paths. It runs as a named prepared statement: the server parses and plans it once
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
  const compiled = compiledOnFirstUse(() => {
    const { text, parameters } = templateOf(name, build(builder, placeholder as Params<P>));
    return { text: markPrepared(name, text), parameters };
  });
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
    run: async (db, params) => Number((await execute(db, params)).numAffectedRows ?? 0),
  };
}

type Built = Compilable | RawBuilder<unknown>;

/** A write with the CTEs that precede it, by name. */
interface BuiltWithCtes {
  ctes: Readonly<Record<string, Built>>;
  main: Built;
}

export interface PreparedWrite<P> {
  readonly name: string;
  /** `db` is a pool or a transaction. In a transaction it may become one statement with later writes. */
  run(db: Db, params: P): Promise<void>;
}

/**
 * A prepared statement that returns nothing, so that a transaction can run it later, as a part of one statement with
 * others. Inside a transaction it settles at once, and the transaction fails if it fails.
 * Its locks must be covered by a row that every transaction locks earlier, such as the issue's, because the parts of a
 * statement lock in no defined order: it may insert rows and change those of a locked issue, run or task.
 *
 *     const remove = preparedWrite('delete-task', (db, p: Params<…>) => db.deleteFrom('tasks').where(…));
 *
 * @param name as in `prepared`. Names of CTEs are unique in the store.
 */
export function preparedWrite<P extends object>(
  name: string,
  build: (db: Kysely<DB>, param: Params<P>) => Built | BuiltWithCtes,
): PreparedWrite<P> {
  const write = compiledOnFirstUse(() => writeOf(name, build(builder, placeholder as Params<P>)));
  return { name, run: async (db, params) => void (await db.executeQuery(queryOf(write(), params))) };
}

function writeOf(name: string, built: Built | BuiltWithCtes): Write {
  const { ctes, main } = 'main' in built ? built : { ctes: {}, main: built };
  const parts = Object.entries(ctes).map(([cte, part]) => ({ cte, ...templateOf(name, part) }));
  return defineWrite(name, parts, templateOf(name, main));
}

const queryOf = (write: Write, params: object): WriteQuery =>
  new WriteQuery(write, valuesOf(write.name, write.alone.parameters, params), params);

/**
 * Makes two writes that follow each other in a transaction one, with the parameters of both. It does what they do, but
 * reads all rows as they were before the first.
 */
export function mergedWrite<A extends object, B extends object>(
  first: PreparedWrite<A>,
  second: PreparedWrite<B>,
  build: (db: Kysely<DB>, param: Params<A & B>) => BuiltWithCtes,
): void {
  const name = `${first.name}-${second.name}`;
  const write = compiledOnFirstUse(() => writeOf(name, build(builder, placeholder as Params<A & B>)));
  defineMerge(first.name, second.name, (params) => queryOf(write(), params));
}

type OfRow = { tenantId: number; id: number };

/**
 * A prepared write that changes columns of one row, which the caller has locked. Those of one transaction and row become
 * one UPDATE: another one of the same row costs its indexes again, and the check of its foreign keys, too.
 *
 *     const close = preparedPatch('close-run', 'runs', (p: Params<…>) => ({ status: p('status'), finished_at: svcNow }));
 *
 * @param build the new values by column: parameters, times, and columns of the row itself; no other table is read.
 */
export function preparedPatch<P extends object>(
  name: string,
  table: PatchedTable,
  build: (param: Params<P>) => Readonly<Record<string, RawBuilder<unknown>>>,
): PreparedWrite<P & OfRow> {
  const compiled = compiledOnFirstUse(() => {
    const values = Object.entries(build(placeholder as Params<P>));
    return definePatch(
      name,
      table,
      values.map(([column, value]) => ({ column, ...templateOf(name, value) })),
    );
  });
  return {
    name,
    run: async (db, params) => {
      const patch = compiled();
      const values = patch.assignments.map(
        ({ column, parameters }) => [column, valuesOf(name, parameters, params)] as const,
      );
      await db.executeQuery(new PatchQuery(patch, new Map(values), [params.tenantId, params.id]));
    },
  };
}
