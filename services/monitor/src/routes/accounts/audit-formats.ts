import type { AuditEntry } from '@pipeline/engine';
import { stringify } from 'csv-stringify/sync';

type Pages = AsyncIterable<readonly AuditEntry[]>;

interface ExportFormat {
  type: string;
  /** Yields the file: the first page, then the others. */
  write(first: readonly AuditEntry[], rest: Pages): AsyncGenerator<string>;
}

const COLUMNS = ['at', 'actorType', 'actor', 'action', 'target', 'reason', 'details', 'id'] as const;

/** RFC 4180. Cells that a spreadsheet would run as a formula begin with an apostrophe. */
const csvOf = (entries: readonly AuditEntry[], header = false): string =>
  stringify(
    entries.map(({ details, ...entry }) => ({ ...entry, details: JSON.stringify(details) })),
    { columns: [...COLUMNS], header, escape_formulas: true, record_delimiter: 'windows' },
  );

async function* writeCsv(first: readonly AuditEntry[], rest: Pages): AsyncGenerator<string> {
  yield csvOf(first, true);
  for await (const page of rest) yield csvOf(page);
}

async function* writeJson(first: readonly AuditEntry[], rest: Pages): AsyncGenerator<string> {
  const lines = (entries: readonly AuditEntry[]): string => entries.map((entry) => JSON.stringify(entry)).join(',\n');
  yield `[\n${lines(first)}`;
  for await (const page of rest) if (page.length > 0) yield `,\n${lines(page)}`;
  yield '\n]\n';
}

/** Files of the audit by format. */
export const EXPORTS: Readonly<Record<'csv' | 'json', ExportFormat>> = {
  csv: { type: 'text/csv; charset=utf-8', write: writeCsv },
  json: { type: 'application/json; charset=utf-8', write: writeJson },
};
