import { isFailure } from '@pipeline/web/api/failure.ts';
import type { ActionPlan } from '../../actions/action.ts';
import { request } from '../../api/request.ts';
import type { Reply } from '../../api/types.ts';

export type Snapshot = Reply<'listStrategySnapshots'>['items'][number];

/** Path of the strategy routes of a repo. */
export function strategyInput(repo: string) {
  const [owner = '', name = ''] = repo.split('/');
  return { params: { owner, repo: name } };
}

const inputOf = (repo: string, version: number) => ({
  params: { ...strategyInput(repo).params, version: String(version) },
});

export const approvePlan = (repo: string, { version, changes }: Snapshot): ActionPlan => ({
  grade: 1,
  verb: 'Approve',
  object: `snapshot ${version}`,
  effect: `Its ${changes.length === 1 ? 'change is' : `${changes.length} changes are`} applied to the tracks and it becomes active, in one step. Nothing changes when a track or the active snapshot was changed since the proposal.`,
  reason: 'optional',
  run: async ({ reason }) => {
    try {
      await request('approveStrategySnapshot', {
        ...inputOf(repo, version),
        body: { ...(reason !== undefined && { reason }) },
      });
    } catch (error) {
      if (!isFailure(error, 'STRATEGY_APPLY_FAILED')) throw error;
      throw new Error(`Nothing was applied; the page was read again. ${error.message}`);
    }
    return 'active';
  },
});

export const rejectPlan = (repo: string, { version }: Snapshot): ActionPlan => ({
  grade: 2,
  verb: 'Reject',
  object: `snapshot ${version}`,
  effect: 'The proposal is rejected for good. The next one may take your reason into account.',
  reason: 'required',
  run: async ({ reason }) => {
    await request('rejectStrategySnapshot', { ...inputOf(repo, version), body: { reason: reason ?? '' } });
    return 'rejected';
  },
});

const automate = async (repo: string, enabled: boolean): Promise<string> => {
  await request('putStrategyAutomation', { ...strategyInput(repo), body: { enabled } });
  return enabled ? 'on' : 'off';
};

export const automationPlan = (repo: string, enabled: boolean): ActionPlan => ({
  grade: 0,
  verb: enabled ? 'Enable' : 'Disable',
  object: `weekly proposals of ${repo}`,
  effect: 'One proposal a week; those within the envelope are applied without an operator.',
  reason: 'none',
  run: () => automate(repo, enabled),
  undo: () => automate(repo, !enabled),
});
