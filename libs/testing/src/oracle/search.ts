import type { State } from '@pipeline/domain';
import { iso } from './names.ts';
import type { Rows } from './rows.ts';

export interface Search {
  states?: readonly State[];
  flag?: 'blocked' | 'paused' | undefined;
  number?: number;
  text?: string;
}

/** Issues that match, those longest in their state first, each by its place and its state. */
export function foundOf(rows: Rows, { states, flag, number, text }: Search) {
  const repos = new Map(rows.repos.map((repo) => [repo.id, repo]));
  const isFound = (issue: Rows['issues'][number]): boolean =>
    (states === undefined || states.includes(issue.state)) &&
    (flag === undefined || (flag === 'blocked' ? issue.isBlocked : issue.isPaused)) &&
    (number === undefined || issue.number === number) &&
    (text === undefined || issue.title.toLowerCase().includes(text.toLowerCase()));
  const tenantOf = (repoId: number) => repos.get(repoId)?.tenantId ?? 0;
  return rows.issues
    .filter(isFound)
    .sort(
      (a, b) =>
        a.stateAt - b.stateAt || tenantOf(a.repoId) - tenantOf(b.repoId) || a.repoId - b.repoId || a.number - b.number,
    )
    .map((issue) => ({
      repo: repos.get(issue.repoId)?.slug,
      tenant: repos.get(issue.repoId)?.tenant,
      issueNumber: issue.number,
      state: issue.state,
      isBlocked: issue.isBlocked,
      isPaused: issue.isPaused,
      stateEnteredAt: iso(issue.stateAt),
      title: issue.title,
    }));
}
