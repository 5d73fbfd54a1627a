import { type Claimed, lockIssues, type WorkerRow } from '@pipeline/store';
import type { TransactionContext } from '../context/context.ts';
import { reviewWorkers } from '../presence/worker-status.ts';
import { payloadOf, type Told } from './task-payload.ts';

/** A task that a worker has just claimed. */
export interface NewClaim {
  claimed: Claimed;
  workerId: string;
}

export interface RecordedClaim extends Told {
  /** As locked when it was read; undefined for one that is gone. */
  worker: WorkerRow | undefined;
}

/**
 * Records claims in the lists and the workers' status, and reads the task payloads. Runs after the claim to keep that
 * short: an issue may have moved on since, and then the report is refused, because the move withdraws the claim.
 * @returns the payload of each claim, in order.
 */
export async function noteClaims(unit: TransactionContext, claims: readonly NewClaim[]): Promise<RecordedClaim[]> {
  const { tx, tenantId } = unit;
  const issueIds = [...new Set(claims.flatMap(({ claimed }) => claimed.issue_id ?? []))];
  for (const id of issueIds) unit.dirtyIssues.changed.add(id);
  // Locked, because its list row could otherwise be written from data that a concurrent change is about to replace.
  const locking = issueIds.length > 0 ? lockIssues(tx, tenantId, issueIds) : Promise.resolve([]);
  const reading = locking.then((issues) => new Map(issues.map((issue) => [issue.id, issue])));
  const [told, workers] = await Promise.all([
    Promise.all(
      claims.map(({ claimed }) =>
        payloadOf(
          unit,
          claimed,
          reading.then((issues) => issues.get(claimed.issue_id ?? 0)),
        ),
      ),
    ),
    reviewWorkers(unit, [...new Set(claims.map(({ workerId }) => workerId))], { alive: true }),
  ]);
  return told.map((each, at) => ({ ...each, worker: workers.get(claims[at]?.workerId ?? '') }));
}
