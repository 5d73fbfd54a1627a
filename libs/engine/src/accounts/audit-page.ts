import {
  AppError,
  type AuditCursor,
  type AuditSource,
  compareAudit,
  formatAuditCursor,
  parseAuditCursor,
  parseAuditTarget,
} from '@pipeline/domain';
import { AUDIT_EVENT, type AuditPage, type AuditRow, auditEventPage, auditLogPage, countEvents } from '@pipeline/store';
import type { Engine } from '../context/context.ts';

export interface AuditFilter {
  actor?: string | undefined;
  action?: string | undefined;
  /** `owner/name`, `owner/name#7`, or the subject of an entry of the log, such as `user anna`. */
  target?: string | undefined;
  since?: string | undefined;
  until?: string | undefined;
}

/** An action of an operator, an administrator or the pipeline on itself. `id` is unique over both sources. */
export interface AuditEntry extends Omit<AuditRow, 'id'> {
  id: string;
}

interface Ordered {
  cursor: AuditCursor;
  row: AuditRow;
}

/**
 * Returns a page of the audit, newest first, and the cursor of the next page; null = this is the last one.
 * @param after cursor of the page before.
 * @throws AppError INVALID_INPUT for a cursor that no page has returned.
 */
export async function readAudit(
  { store }: Engine,
  filter: AuditFilter,
  { limit, after }: { limit: number; after?: string | undefined },
): Promise<{ items: AuditEntry[]; next: string | null }> {
  const cursor = after === undefined ? null : parseAuditCursor(after);
  if (after !== undefined && cursor === null) throw new AppError('INVALID_INPUT', 'after must be the next of a page');
  const page = pageOf(filter, cursor, limit + 1);
  const counted = countEvents(store.db, { tenantId: null, repoId: null, issue: null, type: AUDIT_EVENT });
  const [events, entries] = await Promise.all([
    auditEventPage(store.db, page, counted),
    auditLogPage(store.db, page),
    counted,
  ]);
  const merged = [...ordered(events, 'event'), ...ordered(entries, 'log')].sort((a, b) =>
    compareAudit(a.cursor, b.cursor),
  );
  const shown = merged.slice(0, limit);
  const last = merged.length > limit ? shown.at(-1) : undefined;
  return { items: shown.map(entryOf), next: last ? formatAuditCursor(last.cursor) : null };
}

function pageOf(filter: AuditFilter, after: AuditCursor | null, limit: number): AuditPage {
  const { actor = null, action = null, target = null, since = null, until = null } = filter;
  const parsed = target === null ? null : parseAuditTarget(target);
  return { filter: { actor, action, subject: target, target: parsed, since, until }, after, limit };
}

const ordered = (rows: readonly AuditRow[], source: AuditSource): Ordered[] =>
  rows.map((row) => ({ row, cursor: { at: row.at, source, id: row.id } }));

/** The API has times in milliseconds. */
const entryOf = ({ row, cursor }: Ordered): AuditEntry => ({
  ...row,
  id: `${cursor.source}-${row.id}`,
  at: new Date(row.at).toISOString(),
});
