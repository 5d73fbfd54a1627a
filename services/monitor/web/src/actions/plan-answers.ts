import { labelOf } from '@pipeline/web/states/states.ts';
import { request } from '../api/request.ts';
import type { ActionPlan } from './action.ts';
import { type IssueTarget, inputOf, nameOf } from './issue-actions.ts';

interface PlanTarget extends IssueTarget {
  version: number;
}

const objectOf = (target: PlanTarget): string => `version ${target.version} of the plan of ${nameOf(target)}`;

/** Development begins with the plan as it is. */
export const approvePlanAction = (target: PlanTarget): ActionPlan => ({
  grade: 1,
  verb: 'Approve',
  object: objectOf(target),
  effect: 'Development begins with this version of the plan.',
  reason: 'optional',
  issue: target,
  run: ({ reason }) => sendApproval(target, { ...(reason !== undefined && { reason }) }),
});

/** The planner starts again with the reason. */
export const rejectPlanAction = (target: PlanTarget): ActionPlan => ({
  grade: 2,
  verb: 'Reject',
  object: objectOf(target),
  effect: 'The issue returns to planning. The planner reads this version of the plan and your reason.',
  reason: 'required',
  issue: target,
  run: async ({ reason }) => {
    const body = { version: target.version, reason: reason ?? '' };
    const { state } = await request('rejectPlan', { ...inputOf(target), body });
    return `now ${labelOf(state)}`;
  },
});

/** Approves a version, or the edited text that replaces it. @returns what the API answered, in words. */
export async function sendApproval(target: PlanTarget, edit: { text?: string; reason?: string }): Promise<string> {
  const body = { version: target.version, ...edit };
  const { version, state } = await request('approvePlan', { ...inputOf(target), body });
  return `version ${version} approved, now ${labelOf(state)}`;
}
