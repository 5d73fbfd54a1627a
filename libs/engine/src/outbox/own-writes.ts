import { hasOpenProjections, type IssueRow, lastCompletedAt } from '@pipeline/store';
import type { TransactionContext } from '../context/context.ts';

/**
 * Returns whether a host view of that time may be older than our own writes: a write of ours for the issue is in
 * flight, or did not complete before the host was read. The caller holds the lock of the issue.
 */
export async function mayMissOurWrites(unit: TransactionContext, issue: IssueRow, readAt: string): Promise<boolean> {
  const [isInFlight, written] = await Promise.all([
    hasOpenProjections(unit.tx, issue, ['pending']),
    lastCompletedAt(unit.tx, issue),
  ]);
  return isInFlight || (written !== null && Date.parse(readAt) <= Date.parse(written));
}
