import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { AUDIT_EXPORT_LIMIT, type auditRoutes } from '@pipeline/contract';
import { PAGE_RULES, parseSinceExactly } from '@pipeline/domain';
import { type AuditEntry, type AuditFilter, type Engine, readAudit } from '@pipeline/engine';
import type { HandlersOf } from '@pipeline/http';
import type { Authentication } from '../../auth/authentication.ts';
import { EXPORTS } from './audit-formats.ts';

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
