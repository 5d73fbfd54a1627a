import { compareStamps, PAUSED_LABEL } from '@pipeline/domain';
import { type HostFactsRow, hasOpenProjections, type IssueRow } from '@pipeline/store';
import type { TransactionContext } from '../context/context.ts';
import { mayMissOurWrites } from '../outbox/own-writes.ts';
import { type IssueEvent, isClose, labelTime, stateTime } from './host-facts.ts';

/** A poll may have read the issue before the last applied webhook with the same timestamp. */
export const isBefore = ({ readAt }: IssueEvent, { seen_at }: HostFactsRow): boolean =>
  readAt !== undefined && seen_at !== null && Date.parse(readAt) <= Date.parse(seen_at);

export type Order = 'new' | 'old' | 'unclear';

/** Compares the change in an event with the applied one: newer or not. A current poll shows the host state. */
export function orderOf(event: IssueEvent, issue: IssueRow, facts: HostFactsRow): Order {
  const { action, label } = event;
  if (action === 'seen') return 'new';
  if (isClose(event) && issue.state !== 'done') return orderAfter(stateTime(event), facts.state_at, true);
  if (label !== PAUSED_LABEL || (action !== 'labeled' && action !== 'unlabeled')) return 'new';
  return orderAfter(event.issue.updatedAt, labelTime(facts, label), (action === 'labeled') !== issue.is_paused);
}

function orderAfter(at: string, known: string | null, changes: boolean): Order {
  const order = compareStamps(at, known);
  if (order === 0 && changes) return 'unclear';
  return order > 0 ? 'new' : 'old';
}

/**
 * A poll shows the host at the time it was read, which may be older than our own writes: it applies only when none of
 * our writes is in flight and it was read after the last one completed. A permanently failed write of its labels or its
 * state blocks it until a person settles the write. Failed comments and pull requests do not show in either.
 */
export async function pollStatus(
  unit: TransactionContext,
  issue: IssueRow,
  event: IssueEvent,
): Promise<'current' | 'later' | 'held'> {
  if (event.action !== 'seen') return 'current';
  const [isLater, isHeld] = await Promise.all([
    mayMissOurWrites(unit, issue, event.readAt ?? event.issue.updatedAt),
    hasOpenProjections(unit.tx, issue, ['failed'], ['issue', 'labels']),
  ]);
  if (isLater) return 'later';
  return isHeld ? 'held' : 'current';
}
