import { plural } from '@pipeline/web/format/number.ts';
import type { ActionPlan } from '../../actions/action.ts';
import { request } from '../../api/request.ts';
import type { Reply } from '../../api/types.ts';

export type Repo = Reply<'listRepos'>['items'][number];
type Changed = Reply<'enableRepo'>;

function inputOf({ repo, org }: Repo, reason?: string) {
  const [owner = '', name = ''] = repo.split('/');
  return { params: { owner, repo: name }, query: { tenant: org }, body: { ...(reason !== undefined && { reason }) } };
}

/** Checks of the repo on its host that are not fine, in words. */
export const checkText = (checks: Changed['checks']): string =>
  checks
    .filter(({ status }) => status !== 'ok')
    .map(({ message }) => message)
    .join(' ');

const enable = async (repo: Repo, withoutReviewGate: boolean): Promise<string> => {
  const { body, ...input } = inputOf(repo);
  const { checks } = await request('enableRepo', { ...input, body: { ...body, withoutReviewGate } });
  return `enabled. ${checkText(checks)}`.trim();
};

const disable = async (repo: Repo): Promise<string> => {
  const { inProgress } = await request('disableRepo', inputOf(repo));
  return `disabled${inProgress > 0 ? `; ${plural(inProgress, 'issue')} in progress will be completed` : ''}`;
};

const WITHOUT_GATE = 'without';

export const enablePlan = (repo: Repo): ActionPlan => ({
  grade: 1,
  verb: 'Enable',
  object: repo.repo,
  effect: 'Issues with the enqueue label are imported at once.',
  reason: 'none',
  choices: {
    label: 'Branch',
    options: [
      { value: 'gated', label: 'only if it requires svc/review' },
      { value: WITHOUT_GATE, label: 'also if any token with write access can merge what was not approved' },
    ],
  },
  run: ({ choice }) => enable(repo, choice === WITHOUT_GATE),
});

export const disablePlan = (repo: Repo): ActionPlan => ({
  grade: 0,
  verb: 'Disable',
  object: repo.repo,
  effect: 'No further issue is imported; issues in progress are completed.',
  reason: 'none',
  run: () => disable(repo),
  // It was enabled a moment ago, with the gate or without it.
  undo: () => enable(repo, true),
});

export const removePlan = (repo: Repo): ActionPlan => ({
  grade: 3,
  verb: 'Remove',
  object: repo.repo,
  effect:
    'The repository disappears from all lists. Its history is kept, and adding it again continues it. A repository with issues in progress is refused; one of the configuration file comes back when the monitor starts.',
  count: 1,
  reason: 'optional',
  run: async ({ reason }) => {
    await request('removeRepo', inputOf(repo, reason));
    return 'removed';
  },
});
