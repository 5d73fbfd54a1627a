import type pg from 'pg';

export type Volatility = 'immutable' | 'stable' | 'volatile';

/** Facts about a migrated database that the lint needs to judge a statement. */
export interface Catalogue {
  tables: ReadonlySet<string>;
  /** Volatility by name of function, the least stable of its overloads. */
  functions: ReadonlyMap<string, Volatility>;
  aggregates: ReadonlySet<string>;
  /** Names of functions that give a timestamptz. */
  timeFunctions: ReadonlySet<string>;
  /** Names of columns that hold a timestamptz in some table. */
  timeColumns: ReadonlySet<string>;
}

const VOLATILITY: Record<string, Volatility> = { i: 'immutable', s: 'stable', v: 'volatile' };

/** Reads the catalogue: four queries, a few milliseconds. */
export async function readCatalogue(client: pg.ClientBase): Promise<Catalogue> {
  const names = async (query: string) => {
    const { rows } = await client.query<{ name: string }>(query);
    return new Set(rows.map((row) => row.name));
  };
  const { rows } = await client.query<{ name: string; volatility: string }>(
    // 'i' < 's' < 'v': the greatest is the least stable.
    'select proname as name, max(provolatile::text) as volatility from pg_proc group by proname',
  );
  return {
    tables: await names(
      `select relname as name from pg_class where relnamespace = 'pipeline'::regnamespace and relkind in ('r', 'p')`,
    ),
    functions: new Map(rows.map((row) => [row.name, VOLATILITY[row.volatility] ?? 'volatile'])),
    aggregates: await names(`select distinct proname as name from pg_proc where prokind = 'a'`),
    timeFunctions: await names(
      `select distinct proname as name from pg_proc where prorettype = 'timestamptz'::regtype and not proretset`,
    ),
    timeColumns: await names(
      `select distinct a.attname as name from pg_attribute a join pg_class c on c.oid = a.attrelid
       where c.relnamespace = 'pipeline'::regnamespace and a.atttypid = 'timestamptz'::regtype and a.attnum > 0`,
    ),
  };
}
