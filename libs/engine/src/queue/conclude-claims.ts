import { ANY_AGENT, AppError, isUsedUp, roundUsd, type TaskPayload } from '@pipeline/domain';
import { type Claimed, closingRun, putBackTask } from '@pipeline/store';
import { type Engine, inTenant } from '../context/context.ts';
import { loadIssueContext } from '../context/load-issue.ts';
import { currentHold } from '../costs/holds.ts';
import { projectIssue } from '../outbox/project.ts';
import { updateWorkerStatus } from '../presence/worker-status.ts';
import type { ClaimedTask, ClaimToken, Conclusion, NewClaim } from './claim-types.ts';
import { type RecordedClaim, recordClaims } from './record-claims.ts';
import { withClaim } from './with-claim.ts';

/** Records the claims in one transaction. If that fails, each is recorded, and fails, separately. */
export function conclude(engine: Engine, claims: readonly NewClaim[]): Promise<Conclusion>[] {
  const record = (those: readonly NewClaim[]) =>
    inTenant(engine, those[0]?.request.tenantId ?? 0, (unit) =>
      recordClaims(
        unit,
        those.map(({ row, request }) => ({ row, workerId: request.workerId })),
      ),
    );
  const together = record(claims);
  return claims.map(async (claim, at) => {
    const recorded = await together.then(
      (all) => all[at],
      async (error: unknown) => {
        if (claims.length === 1) throw error;
        return (await record([claim]))[0];
      },
    );
    if (!recorded) throw new Error(`the claim of task ${claim.row.id} was not recorded`);
    return concludeOne(engine, claim, recorded);
  });
}

async function concludeOne(
  engine: Engine,
  { request, claimToken, row }: NewClaim,
  { worker, costUsd, promptVersion, payload, traceparent, mayHaveSnippets }: RecordedClaim,
): Promise<Conclusion> {
  const back = () => returnClaim(engine, { tenantId: request.tenantId, taskId: row.id, claimToken });
  if (worker?.draining || worker?.finishing) {
    await back();
    return null;
  }
  const { perIssueUsd } = engine.settings().costLimits;
  if (row.issue_id !== null && isUsedUp(costUsd, perIssueUsd)) {
    await back();
    return 'held';
  }
  const budgetUsd = leftOf(perIssueUsd, costUsd);
  const task = { ...taskOf(row, payload), promptVersion, claimToken, budgetUsd, traceparent };
  return { task, row, mayHaveSnippets };
}

const leftOf = (limitUsd: number | null, spentUsd: number): number | null =>
  limitUsd === null ? null : roundUsd(limitUsd - spentUsd);

function taskOf(
  row: Claimed,
  payload: TaskPayload,
): Omit<ClaimedTask, 'claimToken' | 'budgetUsd' | 'promptVersion' | 'traceparent'> {
  return {
    id: row.id,
    taskType: row.task_type,
    repo: payload.repo.slug,
    issueNumber: row.issue_number || null,
    priority: row.priority,
    attempt: row.attempt,
    maxAttempts: row.max_attempts,
    agent: row.compared_agent === ANY_AGENT ? null : row.compared_agent,
    leaseExpiresAt: row.lease_expires_at,
    payload,
    maxTurns: null,
  };
}

/**
 * Returns a claim whose worker left before it got the response. Uses no attempt.
 * @returns false when the claim is no longer valid.
 */
export async function returnClaim(engine: Engine, token: ClaimToken): Promise<boolean> {
  try {
    await withClaim(engine, token, async (unit, { run, issue }) => {
      const { tx, tenantId } = unit;
      unit.rows.setRun(run.id, closingRun({ status: 'lost' }));
      const held = await currentHold(unit, issue);
      await putBackTask(tx, tenantId, run.task_id, { attempt: run.attempt, held });
      if (held === 'budget' && issue) await projectIssue(unit, await loadIssueContext(unit, issue));
      if (issue) unit.dirtyIssues.changed.add(issue.id);
      unit.notify('svc_tasks');
      await updateWorkerStatus(unit, run.worker_id, { alive: false });
    });
    return true;
  } catch (error) {
    if (error instanceof AppError && ['CLAIM_LOST', 'TASK_CANCELLED'].includes(error.code)) return false;
    throw error;
  }
}
