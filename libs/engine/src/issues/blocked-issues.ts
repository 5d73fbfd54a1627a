import { type BlockedIssueEntry, errorPatternOf } from '@pipeline/domain';
import { blockedIssues, countBlockedIssues, type Store } from '@pipeline/store';

/** Blocked issues that are looked at. A pipeline with more of them is mended by groups, and those are all among them. */
const SHOWN = 5_000;

/** The blocked issues of all tenants, those that stand longest first, with what their errors have in common. */
export async function readBlockedIssues(store: Store): Promise<{ items: BlockedIssueEntry[]; total: number }> {
  const rows = await blockedIssues(store.fleet, SHOWN);
  const items = rows.map((row) => ({ ...row, errorPattern: errorPatternOf(row.lastError) }));
  return { items, total: rows.length < SHOWN ? rows.length : await countBlockedIssues(store.fleet) };
}
