import type { StoreView } from '../store-view.ts';

const MIB = 1024 * 1024;

export interface Size {
  table: string;
  rows: number;
  heapBytes: number;
  indexBytes: number;
}

/** A table of fewer bytes is in the line of the small ones. */
const SMALL_BYTES = 8 * MIB;

/** Each table with its partitions, largest first; `heapBytes` includes what is stored out of line. */
const SIZES = `
  select coalesce(p.relname, c.relname) as table, sum(greatest(c.reltuples, 0))::float8 as rows,
    sum(pg_table_size(c.oid))::float8 as "heapBytes", sum(pg_indexes_size(c.oid))::float8 as "indexBytes"
  from pg_class c
  left join pg_inherits h on h.inhrelid = c.oid
  left join pg_class p on p.oid = h.inhparent
  where c.relnamespace = 'pipeline'::regnamespace and c.relkind = 'r'
  group by 1 order by sum(pg_total_relation_size(c.oid)) desc`;

export const sizesOf = (store: StoreView): Promise<Size[]> => store.rows<Size>(SIZES);

export const totalMib = (sizes: readonly Size[]): number =>
  sizes.reduce((sum, { heapBytes, indexBytes }) => sum + heapBytes + indexBytes, 0) / MIB;

export interface PerMillion {
  table: string;
  rows: number;
  heapMib: number;
  indexMib: number;
  rowsPerIssue: number;
  bytesPerRow: number;
  /** MiB of a million issues if all rows of theirs are kept. */
  mibPerMillionIssues: number;
}

/**
 * @param rowsPerIssue of each table, over the whole life of an issue; null for tables that grow with something else.
 * @returns the larger tables; the rest is summed up in the last line.
 */
export function perMillion(sizes: readonly Size[], rowsPerIssue: (table: string) => number | null): PerMillion[] {
  const isLarge = ({ table, heapBytes, indexBytes }: Size) =>
    rowsPerIssue(table) !== null || heapBytes + indexBytes >= SMALL_BYTES;
  const small = sizes.filter((size) => !isLarge(size));
  const sum = (of: 'rows' | 'heapBytes' | 'indexBytes') => small.reduce((total, size) => total + size[of], 0);
  const rest: Size = {
    table: `${small.length} others`,
    rows: sum('rows'),
    heapBytes: sum('heapBytes'),
    indexBytes: sum('indexBytes'),
  };
  return [...sizes.filter(isLarge), rest].map(({ table, rows, heapBytes, indexBytes }) => {
    const bytesPerRow = rows === 0 ? 0 : (heapBytes + indexBytes) / rows;
    const ofIssue = rowsPerIssue(table) ?? 0;
    return {
      table,
      rows,
      heapMib: heapBytes / MIB,
      indexMib: indexBytes / MIB,
      rowsPerIssue: ofIssue,
      bytesPerRow,
      mibPerMillionIssues: (bytesPerRow * ofIssue * 1e6) / MIB,
    };
  });
}

const HEADING =
  'table                        rows  heap MiB  index MiB  bytes/row  rows/issue  MiB per million issues  MiB per million rows';

/** Lines of a table to print. */
export function linesOf(all: readonly PerMillion[]): string[] {
  const line = (each: PerMillion) =>
    [
      each.table.padEnd(22),
      each.rows.toFixed(0).padStart(10),
      each.heapMib.toFixed(0).padStart(10),
      each.indexMib.toFixed(0).padStart(11),
      each.bytesPerRow.toFixed(0).padStart(11),
      each.rowsPerIssue.toFixed(2).padStart(12),
      each.mibPerMillionIssues.toFixed(0).padStart(24),
      ((each.bytesPerRow * 1e6) / MIB).toFixed(0).padStart(22),
    ].join('');
  const sum = (of: 'heapMib' | 'indexMib' | 'mibPerMillionIssues') =>
    all.reduce((total, each) => total + each[of], 0).toFixed(0);
  const totals = `sum: ${sum('heapMib')} MiB heap, ${sum('indexMib')} MiB index; ${sum('mibPerMillionIssues')} MiB per million issues`;
  return [HEADING, ...all.map(line), totals];
}
