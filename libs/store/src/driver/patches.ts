import { createHash } from 'node:crypto';
import { COLUMNS, type DB } from './database.generated.ts';
import { defineWrite, footprintOf, type Template, type Write, WriteQuery } from './writes.ts';

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

const folds = new Map<string, Patch | null>();

/** What both patches do, one after the other; null when a value of the second reads what the first writes. */
function foldOf(first: Patch, second: Patch): Patch | null {
  const names = `${first.name} ${second.name}`;
  const known = folds.get(names);
  if (known !== undefined) return known;
  const changed = new Set(first.assignments.map(({ column }) => column));
  const reads = second.assignments.some(({ text }) => columnsIn(second.table, text).some((name) => changed.has(name)));
  const hash = createHash('sha256').update(names).digest('hex').slice(0, 12);
  const fold = reads
    ? null
    : definePatch(`${first.table}-${hash}`, first.table, [...remaining(first, second), ...second.assignments]);
  folds.set(names, fold);
  return fold;
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

  override foldedWith(later: WriteQuery): WriteQuery | undefined {
    if (!(later instanceof PatchQuery) || later.#patch.table !== this.#patch.table) return undefined;
    if (later.#key.some((part, at) => part !== this.#key[at])) return undefined;
    const fold = foldOf(this.#patch, later.#patch);
    return fold ? new PatchQuery(fold, new Map([...this.#values, ...later.#values]), this.#key) : undefined;
  }
}
