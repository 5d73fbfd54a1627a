import { AppError } from '@pipeline/domain';
import { closingRun, putBackTask } from '@pipeline/store';
import type { Engine } from '../context/context.ts';
import { loadIssueContext } from '../context/load-issue.ts';
import { currentHold } from '../costs/holds.ts';
import { projectIssue } from '../outbox/project.ts';
import { updateWorkerStatus } from '../presence/worker-status.ts';
import type { ClaimToken } from './claim-types.ts';
import { withClaim } from './with-claim.ts';

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
