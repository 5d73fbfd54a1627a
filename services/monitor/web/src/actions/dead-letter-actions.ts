import { plural } from '@pipeline/web/format/number.ts';
import { labelOf } from '@pipeline/web/states/states.ts';
import { request } from '../api/request.ts';
import type { ActionPlan } from './action.ts';

interface Target {
  id: string;
  repo: string;
  issueNumber: number;
}

const withReason = (reason: string | undefined) => ({ body: { ...(reason !== undefined && { reason }) } });

export const retryDeadLetterPlan = ({ id, repo, issueNumber }: Target): ActionPlan => ({
  grade: 1,
  verb: 'Retry',
  object: `the dead letter of ${repo}#${issueNumber}`,
  effect: 'The transition is attempted again. If it succeeds, the dead letter is resolved.',
  reason: 'optional',
  issue: { repo, issueNumber },
  run: async ({ reason }) => {
    const { newState } = await request('retryDeadLetter', { params: { id }, ...withReason(reason) });
    if (newState === undefined) return { text: 'the transition failed again', hasFailed: true };
    return `the issue is now ${labelOf(newState)}`;
  },
});

export const resolveDeadLetterPlan = ({ id, repo, issueNumber }: Target): ActionPlan => ({
  grade: 1,
  verb: 'Resolve',
  object: `the dead letter of ${repo}#${issueNumber}`,
  effect: 'The dead letter is marked as resolved. Its transition is not attempted again.',
  reason: 'optional',
  run: async ({ reason }) => {
    await request('resolveDeadLetter', { params: { id }, ...withReason(reason) });
    return 'resolved';
  },
});

export const resolveAllPlan = (count: number): ActionPlan => ({
  grade: 3,
  verb: 'Resolve',
  object: `all ${plural(count, 'dead letter')}`,
  effect:
    'All dead letters of the last poll are marked as resolved, whatever the filters show. No transition is attempted again.',
  count,
  reason: 'optional',
  run: async ({ reason }) => {
    const { resolved, failed } = await request('resolveAllDeadLetters', withReason(reason));
    if (failed.length === 0) return `${resolved} resolved`;
    return { text: `${resolved} attempted, ${failed.length} failed`, hasFailed: true };
  },
});
