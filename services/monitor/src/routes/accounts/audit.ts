import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { AUDIT_EXPORT_LIMIT, type auditRoutes } from '@pipeline/contract';
import { PAGE_RULES, parseSinceExactly } from '@pipeline/domain';
import { type AuditEntry, type AuditFilter, type Engine, readAudit } from '@pipeline/engine';
import type { HandlersOf } from '@pipeline/http';
import { stringify } from 'csv-stringify/sync';
import type { Authentication } from '../../auth/authentication.ts';

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

/** Files of the audit by format. */
const EXPORTS: Readonly<Record<'csv' | 'json', ExportFormat>> = {
  csv: { type: 'text/csv; charset=utf-8', write: writeCsv },
  json: { type: 'application/json; charset=utf-8', write: writeJson },
};

type Handlers = HandlersOf<typeof auditRoutes, Authentication>;

/** @param deps asked at each call. @throws AppError STORE_UNAVAILABLE where there is no store. */
export const auditHandlers = (deps: () => { engine: Engine }, now: () => Date): Handlers => ({
  listAudit: async ({ query: { limit, after, ...filter } }) => ({
    status: 200,
    body: await readAudit(deps().engine, withTimes(filter, now()), { limit, after }),
  }),

  exportAudit: async ({ query: { format, ...filter }, signal, log }) => {
    const pages = pagesOf(deps().engine, withTimes(filter, now()));
    // Read before the headers are sent: an error here is still an error response.
    const first = await pages.next();
    const { type, write } = EXPORTS[format];
    const name = `audit-${now().toISOString().slice(0, 10)}.${format}`;
    return {
      status: 200,
      headers: {
        'content-type': type,
        'content-disposition': `attachment; filename="${name}"`,
        'cache-control': 'no-store',
      },
      stream: async (response) => {
        const text = write(first.done ? [] : first.value, pages);
        await pipeline(Readable.from(text), response, { signal }).catch((error: unknown) => {
          // The caller sees a response that was cut.
          if (!signal.aborted) log.error('the export of the audit was cut', { error });
        });
      },
    };
  },
});

/** Durations before now become times. */
const withTimes = ({ since, until, ...filter }: AuditFilter, at: Date): AuditFilter => ({
  ...filter,
  ...(since !== undefined && { since: parseSinceExactly(since, at) ?? since }),
  ...(until !== undefined && { until: parseSinceExactly(until, at) ?? until }),
});

/** The matching entries in pages, one in memory at a time. */
async function* pagesOf(engine: Engine, filter: AuditFilter): AsyncGenerator<AuditEntry[], undefined> {
  let left = AUDIT_EXPORT_LIMIT;
  let after: string | undefined;
  do {
    const { items, next } = await readAudit(engine, filter, { limit: Math.min(left, PAGE_RULES.audit.max), after });
    yield items;
    left -= items.length;
    after = next ?? undefined;
  } while (after !== undefined && left > 0);
}

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
