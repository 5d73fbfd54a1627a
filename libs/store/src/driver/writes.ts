import { createHash } from 'node:crypto';
import { CompiledQuery, type RootOperationNode } from 'kysely';
import { COLUMNS, type DB } from './database.generated.ts';
import { markPrepared } from './statement-client.ts';

/** Compiled SQL whose parameters are numbered from $1. */
export interface Template {
  readonly text: string;
  readonly parameters: readonly unknown[];
}

interface Cte extends Template {
  readonly cte: string;
}

/** Tables by their names in a statement's text. Reads are all that it names, which may be too many, never too few. */
export interface Footprint {
  readonly names: ReadonlySet<string>;
  readonly writes: ReadonlySet<string>;
}

/** A write that may become one statement with others. */
export interface Write extends Footprint {
  readonly name: string;
  readonly ctes: readonly Cte[];
  readonly main: Template;
  /** The statement of this write alone. */
  readonly alone: Template;
}

/** A write with its values. Where nothing combines writes, it runs as an ordinary statement. */
export class WriteQuery implements CompiledQuery<unknown> {
  readonly write: Write;
  readonly sql: string;
  readonly parameters: readonly unknown[];
  readonly query: RootOperationNode;
  readonly queryId: CompiledQuery['queryId'];
  readonly #params: object;

  /** @param params the values by name, for a write that it is merged into. */
  constructor(write: Write, parameters: readonly unknown[], params: object = {}) {
    this.write = write;
    this.#params = params;
    this.sql = write.alone.text;
    this.parameters = parameters;
    ({ query: this.query, queryId: this.queryId } = CompiledQuery.raw(this.sql));
  }

  /** One write that does what this one does and then `later`; undefined = they stay two. */
  mergedWith(later: WriteQuery): WriteQuery | undefined {
    return merges.get(`${this.write.name} ${later.write.name}`)?.({ ...this.#params, ...later.#params });
  }
}

const merges = new Map<string, (params: object) => WriteQuery>();

/** Registers the write that replaces two, one after the other. @param make gets the parameters of both. */
export function defineMerge(first: string, second: string, make: (params: object) => WriteQuery): void {
  merges.set(`${first} ${second}`, make);
}

const TABLES: ReadonlySet<string> = new Set(Object.keys(COLUMNS));

/** The tables that a statement names, and those that it writes. */
export function footprintOf(text: string): Footprint {
  const tables = (found: RegExpStringIterator<RegExpExecArray>, group: number) =>
    new Set([...found].map((match) => match[group] ?? '').filter((word) => TABLES.has(word)));
  return {
    names: tables(text.matchAll(/[a-z_]+/g), 0),
    writes: tables(text.matchAll(/(?:insert into|update|delete from) +(?:"?pipeline"?\.)?"?([a-z_]+)/g), 1),
  };
}

/** Returns whether `later` would run differently beside or before `earlier` than after it. */
export function dependsOn(later: Footprint, earlier: Footprint): boolean {
  return !later.names.isDisjointFrom(earlier.writes);
}

const cteNames = new Set<string>();

/** @throws Error when another write has a CTE of that name, or this one writes nothing. */
export function defineWrite(name: string, ctes: readonly Cte[], main: Template): Write {
  for (const { cte } of ctes) {
    if (cteNames.has(cte)) throw new Error(`write ${name}: another write has a CTE named ${cte}`);
    cteNames.add(cte);
  }
  const parts = combined([{ ctes, main }]);
  const footprint = footprintOf(parts.text);
  if (footprint.writes.size === 0) throw new Error(`${name} writes no table`);
  return { name, ctes, main, ...footprint, alone: { ...parts, text: markPrepared(name, parts.text) } };
}

/** One statement of all these writes: the last is its main query, the others are CTEs. */
function combined(writes: readonly Pick<Write, 'ctes' | 'main'>[]): Template {
  const parameters: unknown[] = [];
  const placed = (template: Template): string => {
    const before = parameters.length;
    parameters.push(...template.parameters);
    return template.text.replace(/\$(\d+)/g, (_, number) => `$${before + Number(number)}`);
  };
  const ctes: string[] = [];
  let last = '';
  for (const [at, { ctes: own, main }] of writes.entries()) {
    ctes.push(...own.map((cte) => `${cte.cte} as (${placed(cte)})`));
    last = placed(main);
    if (at < writes.length - 1) ctes.push(`write_${at} as (${last})`);
  }
  return { text: ctes.length === 0 ? last : `with ${ctes.join(', ')} ${last}`, parameters };
}

const texts = new Map<string, string>();

/** The text of one statement for several writes; equal for equal sequences of names, so that its plan is reused. */
function textOf(writes: readonly Write[]): string {
  const names = writes.map(({ name }) => name).join(' ');
  const known = texts.get(names);
  if (known !== undefined) return known;
  const hash = createHash('sha256').update(names).digest('hex').slice(0, 12);
  const text = markPrepared(`writes-${hash}`, `/* ${names} */ ${combined(writes).text}`);
  texts.set(names, text);
  return text;
}

/** One query that does what these do. None depends on another. */
export function combine(queries: readonly WriteQuery[]): CompiledQuery {
  const [first, ...others] = queries;
  if (first && others.length === 0) return first;
  const text = textOf(queries.map(({ write }) => write));
  return CompiledQuery.raw(
    text,
    queries.flatMap(({ parameters }) => parameters),
  );
}

/** A column and its new value: parameters, times of the store's clock, the row's own columns. */
interface Assignment extends Template {
  readonly column: string;
}

/** A table whose rows are changed by patches; its key is `tenant_id` and `id`. */
export type PatchedTable = keyof DB & ('issues' | 'runs');

/** Changes of columns of one row. */
interface Patch {
  readonly name: string;
  readonly table: PatchedTable;
  readonly assignments: readonly Assignment[];
  readonly write: Write;
}

/** @throws Error when a value reads a table. */
export function definePatch(name: string, table: PatchedTable, assignments: readonly Assignment[]): Patch {
  for (const { column, text } of assignments) {
    if (footprintOf(text).names.size > 0) throw new Error(`patch ${name}: the value of ${column} reads a table`);
  }
  const offset = { count: 0 };
  const values = assignments.map(({ column, ...value }) => `"${column}" = ${placed(value, offset)}`);
  const key = `"tenant_id" = $${offset.count + 1} and "id" = $${offset.count + 2}`;
  const main = {
    text: `update "${table}" set ${values.join(', ')} where ${key}`,
    parameters: [...assignments.flatMap(({ parameters }) => parameters), undefined, undefined],
  };
  return { name, table, assignments, write: defineWrite(name, [], main) };
}

function placed({ text, parameters }: Template, offset: { count: number }): string {
  const before = offset.count;
  offset.count += parameters.length;
  return text.replace(/\$(\d+)/g, (_, number) => `$${before + Number(number)}`);
}

const mergedPatches = new Map<string, Patch | null>();

/** Merges two patches into one that does both in order; null when a value of the second reads what the first writes. */
function mergePatches(first: Patch, second: Patch): Patch | null {
  const names = `${first.name} ${second.name}`;
  const known = mergedPatches.get(names);
  if (known !== undefined) return known;
  const changed = new Set(first.assignments.map(({ column }) => column));
  const reads = second.assignments.some(({ text }) => columnsIn(second.table, text).some((name) => changed.has(name)));
  const hash = createHash('sha256').update(names).digest('hex').slice(0, 12);
  const merged = reads
    ? null
    : definePatch(`${first.table}-${hash}`, first.table, [...remaining(first, second), ...second.assignments]);
  mergedPatches.set(names, merged);
  return merged;
}

const columnsIn = (table: PatchedTable, text: string): string[] =>
  (text.match(/[a-z_]+/g) ?? []).filter((word) => (COLUMNS[table] as readonly string[]).includes(word));

const remaining = (first: Patch, second: Patch): Assignment[] =>
  first.assignments.filter(({ column }) => !second.assignments.some((later) => later.column === column));

type Values = ReadonlyMap<string, readonly unknown[]>;
type Key = readonly [tenantId: unknown, id: unknown];

/** A patch with its values by column. Patches of one row become one, so that it is written once. */
export class PatchQuery extends WriteQuery {
  readonly #patch: Patch;
  readonly #values: Values;
  readonly #key: Key;

  constructor(patch: Patch, values: Values, key: Key) {
    super(patch.write, [...patch.assignments.flatMap(({ column }) => values.get(column) ?? []), ...key]);
    this.#patch = patch;
    this.#values = values;
    this.#key = key;
  }

  override mergedWith(later: WriteQuery): WriteQuery | undefined {
    if (!(later instanceof PatchQuery) || later.#patch.table !== this.#patch.table) return undefined;
    if (later.#key.some((part, at) => part !== this.#key[at])) return undefined;
    const merged = mergePatches(this.#patch, later.#patch);
    return merged ? new PatchQuery(merged, new Map([...this.#values, ...later.#values]), this.#key) : undefined;
  }
}
