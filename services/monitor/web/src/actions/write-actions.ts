import { request } from '../api/request.ts';
import type { ActionPlan } from './action.ts';

interface Target {
  id: number;
  repo: string;
  issueNumber: number;
  /** The write in words, such as `add the label svc:done`. */
  words: string;
}

const withReason = (reason: string | undefined) => ({ body: { ...(reason !== undefined && { reason }) } });

export const retryWritePlan = ({ id, repo, issueNumber, words }: Target): ActionPlan => ({
  grade: 1,
  verb: 'Retry',
  object: `the write to ${repo}#${issueNumber}`,
  effect: `The write “${words}” is attempted again, with all its attempts. What the host already has is not repeated.`,
  reason: 'optional',
  issue: { repo, issueNumber },
  run: async ({ reason }) => {
    await request('retryProjection', { params: { id: String(id) }, ...withReason(reason) });
    return 'the write waits for its turn';
  },
});

export const discardWritePlan = ({ id, repo, issueNumber, words }: Target): ActionPlan => ({
  grade: 3,
  verb: 'Discard',
  object: `the write to ${repo}#${issueNumber}`,
  effect: `The host will never see this: ${words}. Writes of the issue that wait behind it go on.`,
  count: 1,
  reason: 'optional',
  run: async ({ reason }) => {
    await request('discardProjection', { params: { id: String(id) }, ...withReason(reason) });
    return 'discarded';
  },
});
