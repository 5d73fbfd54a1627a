import { StateChip } from '@pipeline/web/components/state-chip.tsx';
import { formatTotal } from '@pipeline/web/format/money.ts';
import { inWords } from '@pipeline/web/format/reasons.ts';
import { STATE_NAMES } from '@pipeline/web/states/states.ts';
import type { Column } from '@pipeline/web/table/column.ts';
import { IssueAction } from '../../actions/issue-action.tsx';
import type { Issue } from '../../api/types.ts';
import { issuePath } from '../../navigation/issue-path.ts';
import { RowLink } from '../../navigation/row-link.tsx';
import styles from './issues.module.css';
import { phraseOf } from './phrase.ts';
import { PullRequest } from './pull-request.tsx';
import { TimeInState } from './time-in-state.tsx';

/** Where the issue is, for links: the tenant is named only where it is not the usual one. */
export const addressOf = ({ repo, issueNumber, tenant }: Issue): { to: string; search: Record<string, string> } => ({
  to: issuePath(repo, issueNumber),
  search: tenant === 'default' ? {} : { tenant },
});

const number: Column<Issue> = {
  id: 'number',
  header: 'Issue',
  width: '64px',
  from: 400,
  sort: ({ issueNumber }) => issueNumber,
  cell: ({ issueNumber }) => `#${issueNumber}`,
};

const title: Column<Issue> = {
  id: 'title',
  header: 'Title',
  width: 'minmax(110px, 4fr)',
  sort: (issue) => issue.title,
  cell: (issue) => (
    <>
      <RowLink {...addressOf(issue)} title={issue.title}>
        <span className={styles.narrow}>#{issue.issueNumber} </span>
        {issue.title}
      </RowLink>
      <IssueAction repo={issue.repo} issueNumber={issue.issueNumber} />
    </>
  ),
};

const repo: Column<Issue> = {
  id: 'repo',
  header: 'Repository',
  width: 'minmax(90px, 1fr)',
  from: 1_100,
  sort: (issue) => issue.repo,
  cell: (issue) => issue.repo,
};

const others: readonly Column<Issue>[] = [
  {
    id: 'state',
    header: 'State',
    width: 'minmax(140px, 170px)',
    sort: ({ state }) => STATE_NAMES.indexOf(state),
    cell: ({ state, isPaused, isBlocked }) => <StateChip state={state} isPaused={isPaused} isBlocked={isBlocked} />,
  },
  {
    id: 'since',
    header: 'For',
    width: '84px',
    align: 'end',
    from: 420,
    sort: ({ stateEnteredAt }) => (stateEnteredAt === null ? null : -Date.parse(stateEnteredAt)),
    cell: (issue) => <TimeInState issue={issue} />,
  },
  {
    id: 'why',
    header: 'Why',
    width: 'minmax(120px, 2fr)',
    from: 760,
    cell: (issue) => <span title={phraseOf(issue)}>{phraseOf(issue)}</span>,
  },
  {
    id: 'task',
    header: 'Task',
    width: 'minmax(80px, 120px)',
    from: 900,
    sort: ({ activeTaskType }) => activeTaskType,
    cell: ({ activeTaskType, assignedAgent }) =>
      activeTaskType && (
        <span title={assignedAgent ?? 'waits for a worker'}>
          {inWords(activeTaskType)}
          {assignedAgent === null && ' (waits)'}
        </span>
      ),
  },
  {
    id: 'attempts',
    header: 'Attempt',
    width: '72px',
    align: 'end',
    from: 1_000,
    sort: ({ attempt }) => attempt,
    cell: ({ attempt, maxAttempts }) => (attempt === null ? '' : `${attempt + 1} of ${maxAttempts}`),
  },
  {
    id: 'cost',
    header: 'Cost',
    width: '84px',
    align: 'end',
    from: 560,
    sort: ({ costUsd }) => costUsd,
    cell: ({ costUsd, unreportedCosts }) => formatTotal(costUsd, unreportedCosts),
  },
  {
    id: 'pr',
    header: 'PR',
    width: '76px',
    align: 'end',
    from: 680,
    sort: ({ prNumber }) => prNumber,
    cell: (issue) => <PullRequest issue={issue} />,
  },
];

/** Columns of the issue table; the repository only where there are several. */
export const columnsOf = (hasRepo: boolean): readonly Column<Issue>[] =>
  hasRepo ? [number, title, ...others] : [number, title, repo, ...others];
