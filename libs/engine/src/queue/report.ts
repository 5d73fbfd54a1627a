import type { Engine } from '../context/context.ts';
import { applyReport, type Report, type ReportAnswer } from './apply-report.ts';
import type { ClaimToken } from './claim-types.ts';
import { endClaim } from './end-claim.ts';

/**
 * Applies the outcome of a task in one transaction: deletes the task, closes its run, stores costs and records, and
 * applies the decision or writes a dead letter. The same token and body again return the same response and change
 * nothing.
 * @throws AppError CLAIM_LOST, TASK_CANCELLED, or INVALID_ARGUMENT for an outcome that a task of this type cannot have.
 */
export const report = (engine: Engine, token: ClaimToken, body: Report): Promise<ReportAnswer> =>
  endClaim(engine, token, body, async (unit, claim) => {
    const answer = await applyReport(unit, claim, body);
    return { answer, end: { status: 'finished', outcome: body.outcome } };
  });
