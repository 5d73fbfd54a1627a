/** A column of a table that is copied, with its type as Postgres prints it. */
export interface Column {
  name: string;
  type: string;
}

/** Differences between the rows of one copy and those of the template. */
export interface Shift {
  /** Number of the copy, from 0, the oldest. */
  copy: number;
  /** More than any id of the template. */
  idStride: number;
  /** More than any number of an issue or a pull request of the template. */
  numberStride: number;
  seconds: number;
}

/** Ids that the rows of a copy share with those of the others. */
const SHARED: ReadonlySet<string> = new Set(['tenant_id', 'repo_id', 'child_repo_id', 'parent_repo_id']);
const NUMBERS = /^(issue_number|number|pr_number|reverted_by|parent_issue_number|child_issue_number)$/;
const IDS = /^(id|.*_id)$/;
const UNIQUE_TEXTS: ReadonlySet<string> = new Set(['claim_token_hash', 'idempotency_key']);

/** @returns the SQL of a column's value in a copy, of a row `t` of the template. */
export function expressionOf({ name, type }: Column, shift: Shift): string {
  const column = `t.${name}`;
  const { copy } = shift;
  if (type === 'timestamp with time zone') return `${column} - interval '${shift.seconds} s'`;
  if (type === 'uuid') {
    // Ascending from copy to copy, as UUIDs of version 7 are.
    const prefix = copy.toString(16).padStart(8, '0');
    return `overlay(md5(${column}::text || '${copy}') placing '${prefix}' from 1 for 8)::uuid`;
  }
  if (UNIQUE_TEXTS.has(name)) return `${column} || '-${copy}'`;
  if (NUMBERS.test(name)) return `${column} + ${copy * shift.numberStride}`;
  if (type === 'bigint' && IDS.test(name) && !SHARED.has(name)) return `${column} + ${copy * shift.idStride}`;
  if (name === 'body' && type === 'text') return bodyOf(shift);
  return column;
}

/** The stored item of a list names its issue; other bodies name none. */
const bodyOf = ({ copy, numberStride }: Shift): string =>
  `case when t.body like '{"issueNumber":%' then
    regexp_replace(t.body, '^\\{"issueNumber":\\d+', '{"issueNumber":' || ((t.body::json ->> 'issueNumber')::int + ${copy * numberStride}))
    else t.body end`;

/** @returns the statement that inserts a copy of a table, without rows before a time. */
export function copyStatement(
  table: string,
  columns: readonly Column[],
  from: { shift: Shift; since: string },
): string {
  const names = columns.map(({ name }) => name).join(', ');
  const values = columns.map((column) => expressionOf(column, from.shift)).join(', ');
  return `insert into pipeline.${table} (${names}) select ${values} from template.${table} t where ${from.since}`;
}
