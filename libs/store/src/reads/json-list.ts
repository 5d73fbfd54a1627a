import { type RawBuilder, sql } from 'kysely';

const MAX_LISTED = 50;

/** The rows of a query as one JSON array, in order: a part of a statement that returns many kinds of rows. */
export const jsonList = (query: RawBuilder<unknown>, limit = MAX_LISTED): RawBuilder<unknown> =>
  sql`(select coalesce(json_agg(q), '[]') from (${query} limit ${sql.lit(limit)}) q)`;
