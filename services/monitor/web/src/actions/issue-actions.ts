import { labelOf } from '@pipeline/web/states/states.ts';
import { request } from '../api/request.ts';
import type { State } from '../api/types.ts';
import type { ActionPlan } from './action.ts';

export interface IssueTarget {
  repo: string;
  issueNumber: number;
  /** External id; needed only where several tenants have a repo with this name. */
  tenant?: string;
}

type SimpleAction = 'pauseIssue' | 'resumeIssue' | 'unblockIssue' | 'retryIssue' | 'cancelIssue';

export const nameOf = ({ repo, issueNumber }: IssueTarget): string => `${repo}#${issueNumber}`;

export function inputOf({ repo, issueNumber, tenant }: IssueTarget) {
  const [owner = '', name = ''] = repo.split('/');
  return {
    params: { owner, repo: name, issue: String(issueNumber) },
    ...(tenant !== undefined && { query: { tenant } }),
  };
}

async function call(action: SimpleAction, issue: IssueTarget, reason?: string): Promise<string> {
  const body = await request(action, { ...inputOf(issue), body: { ...(reason !== undefined && { reason }) } });
  return 'state' in body ? `now ${labelOf(String(body.state))}` : 'done';
}

/** Pauses at once; can be undone. */
export const pausePlan = (issue: IssueTarget): ActionPlan => ({
  grade: 0,
  verb: 'Pause',
  object: nameOf(issue),
  effect: 'No new task of the issue is claimed; a running task may finish.',
  reason: 'optional',
  issue,
  run: ({ reason }) => call('pauseIssue', issue, reason),
  undo: () => call('resumeIssue', issue),
});

/** Resumes at once; can be undone. */
export const resumePlan = (issue: IssueTarget): ActionPlan => ({
  grade: 0,
  verb: 'Resume',
  object: nameOf(issue),
  effect: 'The label svc:paused is removed and the work task is enqueued again.',
  reason: 'optional',
  issue,
  run: ({ reason }) => call('resumeIssue', issue, reason),
  undo: () => call('pauseIssue', issue),
});

export const retryPlan = (issue: IssueTarget): ActionPlan => ({
  grade: 1,
  verb: 'Retry',
  object: nameOf(issue),
  effect:
    'The work is repeated, behind older tasks of the same priority. A blocked issue stays blocked until it succeeds.',
  reason: 'optional',
  issue,
  run: ({ reason }) => call('retryIssue', issue, reason),
});

export const unblockPlan = (issue: IssueTarget): ActionPlan => ({
  grade: 1,
  verb: 'Unblock',
  object: nameOf(issue),
  effect:
    'The issue returns to the state in which it was blocked, and its work starts again. Open dependencies are treated as resolved.',
  reason: 'optional',
  issue,
  run: ({ reason }) => call('unblockIssue', issue, reason),
});

export const cancelPlan = (issue: IssueTarget): ActionPlan => ({
  grade: 3,
  verb: 'Cancel',
  object: nameOf(issue),
  effect: 'The issue moves to done for good and its tasks are cancelled, also those that are running.',
  count: 1,
  reason: 'optional',
  issue,
  run: ({ reason }) => call('cancelIssue', issue, reason),
});

/** @param targets states that the workflow allows from the current one. */
export const transitionPlan = (issue: IssueTarget, targets: readonly State[]): ActionPlan => ({
  grade: 2,
  verb: 'Move',
  object: nameOf(issue),
  effect: 'The issue moves to the chosen state as if the workflow had decided so.',
  reason: 'required',
  choices: { label: 'New state', options: targets.map((state) => ({ value: state, label: labelOf(state) })) },
  issue,
  run: async ({ reason, choice }) => {
    const { from, to } = await request('transitionIssue', {
      ...inputOf(issue),
      body: { targetState: choice ?? '', reason: reason ?? '' },
    });
    return `moved from ${labelOf(from)} to ${labelOf(to)}`;
  },
});
