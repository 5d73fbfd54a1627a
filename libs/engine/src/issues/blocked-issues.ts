import { type BlockedIssueEntry, errorPatternOf } from '@pipeline/domain';
import { blockedIssues, countBlockedIssues, type Store } from '@pipeline/store';

/** Maximum number of blocked issues that are read. Beyond it, repair by groups, which the list contains. */
const SHOWN = 5_000;

/** The blocked issues of all tenants, longest blocked first, and their common error patterns. */
export async function readBlockedIssues(store: Store): Promise<{ items: BlockedIssueEntry[]; total: number }> {
  const rows = await blockedIssues(store.db, SHOWN);
  const items = rows.map((row) => ({ ...row, errorPattern: errorPatternOf(row.lastError) }));
  return { items, total: rows.length < SHOWN ? rows.length : await countBlockedIssues(store.db) };
}
