import { type Claimed, lockIssues, type WorkerRow } from '@pipeline/store';
import type { Unit } from '../context/context.ts';
import { reviewWorkers } from '../presence/worker-status.ts';
import { payloadOf, type Told } from './task-payload.ts';

/** A task that a worker has just been given. */
export interface NewClaim {
  claimed: Claimed;
  workerId: string;
}

export interface Noted extends Told {
  /** Under lock when it was read; undefined for one that is gone. */
  worker: WorkerRow | undefined;
}

/**
 * Shows in the lists who is at the issues, and that the workers are busy; reads what the workers are told. After the
 * claim, so that this stays short: an issue may have moved on since, and then the report is refused, for the claim is
 * withdrawn with the move.
 * @returns what there is of each claim, in order.
 */
export async function noteClaims(unit: Unit, claims: readonly NewClaim[]): Promise<Noted[]> {
  const { tx, tenantId } = unit;
  const issueIds = [...new Set(claims.flatMap(({ claimed }) => claimed.issue_id ?? []))];
  for (const id of issueIds) unit.relisted.changed.add(id);
  // Locked, or its row in the lists could be written from what a change under way is about to replace.
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
