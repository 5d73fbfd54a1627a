import type { StoreView } from '../store-view.ts';

/** Counts that the server has for one statement of the retention. */
export interface Statement {
  what: string;
  calls: number;
  totalMs: number;
  slowestMs: number;
  walMib: number;
}

/**
 * Reads from pg_stat_statements what only the monitor's loop deletes, and the functions that create and drop
 * partitions.
 */
const STATEMENTS = `
  select coalesce(substring(query from 'delete from (runs)'), substring(query from '\\w+_month_partition'),
      substring(query from 'delete from (\\w+)')) as what,
    sum(calls)::float8 as calls, sum(total_exec_time)::float8 as "totalMs", max(max_exec_time)::float8 as "slowestMs",
    sum(wal_bytes)::float8 / 1048576 as "walMib"
  from pipeline.pg_stat_statements
  where query ~ '_month_partition\\('
    or query ~ 'delete from (agent_invocations|projections|webhook_deliveries|worker_periods|kpi_snapshots|event_counts)'
  group by 1 order by 3 desc`;

export const statementsOf = (store: StoreView): Promise<Statement[]> => store.rows<Statement>(STATEMENTS);

export const prepareStatements = async (store: StoreView): Promise<void> => {
  await store.rows('create extension if not exists pg_stat_statements schema pipeline');
};

export const resetStatements = async (store: StoreView): Promise<void> => {
  await store.rows('select pipeline.pg_stat_statements_reset()');
};

export const lineOf = ({ what, calls, totalMs, slowestMs, walMib }: Statement): string =>
  `${what.padEnd(24)} ${calls.toFixed(0).padStart(6)} calls ${(totalMs / calls).toFixed(1).padStart(9)} ms mean ` +
  `${slowestMs.toFixed(0).padStart(7)} ms slowest ${(totalMs / 1_000).toFixed(1).padStart(7)} s in all ${walMib.toFixed(1).padStart(8)} MiB WAL`;
