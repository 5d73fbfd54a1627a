import { type RawBuilder, sql } from 'kysely';
import type { Jsonb } from './column-values.ts';

/** A value for a jsonb column. pg would send a JavaScript array as a Postgres array, so it is serialised here. */
export const jsonb = <T>(value: T): RawBuilder<Jsonb<T>> => sql<Jsonb<T>>`${JSON.stringify(value)}::jsonb`;

/**
 * Marks a statement that reads all tenants, with the reason. The lint of the store's statements
 * refuses one without.
 */
export const fleetNote = (reason: string): RawBuilder<unknown> => sql.raw(`/* fleet: ${reason} */`);

/** The timestamp format of the API. */
export const wireTime = (column: string): RawBuilder<string> =>
  sql`to_char(${sql.ref(column)} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/** The same with microseconds, for comparison with the column. */
export const exactTime = (column: string): RawBuilder<string> =>
  sql`to_char(${sql.ref(column)} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;

const MAX_LISTED = 50;

/** The rows of a query as one JSON array, in order: a part of a statement that returns many kinds of rows. */
export const jsonList = (query: RawBuilder<unknown>, limit = MAX_LISTED): RawBuilder<unknown> =>
  sql`(select coalesce(json_agg(q), '[]') from (${query} limit ${sql.lit(limit)}) q)`;

/** Columns of a table in a joined result: `alias_column`. */
export const columnsOf = (alias: string, columns: readonly string[]): RawBuilder<unknown> =>
  sql.join(columns.map((column) => sql`${sql.ref(`${alias}.${column}`)} as ${sql.ref(`${alias}_${column}`)}`));

/** These columns of the only table in a query that has them. */
export const columnList = (names: readonly string[]): RawBuilder<unknown> =>
  sql.join(names.map((name) => sql.ref(name)));

/** The row of that table in a joined result that was selected by `columnsOf`. */
export const partOf = <T>(row: Readonly<Record<string, unknown>>, alias: string, columns: readonly string[]): T =>
  Object.fromEntries(columns.map((column) => [column, row[`${alias}_${column}`]])) as T;
