import { parseSlug } from '../slugs.ts';

/** The tables that keep actions: those on a repo are pipeline events, all others are in the audit log. */
export type AuditSource = 'event' | 'log';

/** Place of an entry in the audit, newest first: time with microseconds, then source, then id. */
export interface AuditCursor {
  at: string;
  source: AuditSource;
  id: number;
}

/** The text form of a cursor, written out so that a test can prove the pattern linear. */
export const AUDIT_CURSOR = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{6}Z~(?:event|log)~\d{1,15}$/;

export const formatAuditCursor = ({ at, source, id }: AuditCursor): string => `${at}~${source}~${id}`;

/** Returns null for a text that `formatAuditCursor` did not write. */
export function parseAuditCursor(text: string): AuditCursor | null {
  const [at = '', source, id] = text.split('~');
  if (!AUDIT_CURSOR.test(text) || !isTime(at)) return null;
  return { at, source: source === 'log' ? 'log' : 'event', id: Number(id) };
}

/** A date such as 31 February matches the pattern, and parses as another day. */
function isTime(at: string): boolean {
  const time = Date.parse(at);
  return !Number.isNaN(time) && new Date(time).toISOString().slice(0, 19) === at.slice(0, 19);
}

/** Returns a negative number when `a` is newer than `b`. */
export function compareAudit(a: AuditCursor, b: AuditCursor): number {
  if (a.at !== b.at) return a.at > b.at ? -1 : 1;
  if (a.source !== b.source) return a.source > b.source ? -1 : 1;
  return b.id - a.id;
}

const MAX_ID = Number.MAX_SAFE_INTEGER;

/**
 * Returns the bound for one source: its entries after the cursor are those whose (time, id) is less than this pair.
 * Entries of the same time are ordered by source, so a cursor of another source excludes all or none of them.
 */
export function auditBound(cursor: AuditCursor, source: AuditSource): { at: string; id: number } {
  if (cursor.source === source) return { at: cursor.at, id: cursor.id };
  return { at: cursor.at, id: source < cursor.source ? MAX_ID : 0 };
}

/** A repo, or an issue of it, by which the audit is filtered. */
export interface AuditTarget {
  owner: string;
  name: string;
  issue: number | null;
}

/** Returns the repo or issue that `owner/name` or `owner/name#7` names; null for another target, such as `user anna`. */
export function parseAuditTarget(text: string): AuditTarget | null {
  const [slug = '', issue, ...more] = text.split('#');
  const repo = parseSlug(slug);
  if (!repo || more.length > 0 || (issue !== undefined && !/^[1-9]\d{0,8}$/.test(issue))) return null;
  return { ...repo, issue: issue === undefined ? null : Number(issue) };
}
