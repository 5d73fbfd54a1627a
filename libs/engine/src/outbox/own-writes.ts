import { hasOpenProjections, type IssueRow, lastCompletedAt } from '@pipeline/store';
import type { TransactionContext } from '../context/context.ts';

/** Lanes whose writes show in an issue or a pull request. A comment behind one that failed for good waits without end. */
const SHOWN = ['issue', 'labels', 'pr'] as const;

/**
 * Returns whether a host view of that time may be older than our own writes: a write of ours for the issue is in
 * flight, or did not complete before the host was read. The caller holds the lock of the issue.
 */
export async function mayMissOurWrites(unit: TransactionContext, issue: IssueRow, readAt: string): Promise<boolean> {
  const [isInFlight, written] = await Promise.all([
    hasOpenProjections(unit.tx, issue, ['pending'], SHOWN),
    lastCompletedAt(unit.tx, issue),
  ]);
  return isInFlight || (written !== null && Date.parse(readAt) <= Date.parse(written));
}
