import { StateChip } from '@pipeline/web/components/state-chip.tsx';
import { TitleText } from '@pipeline/web/components/title-text.tsx';
import { When } from '@pipeline/web/components/when.tsx';
import { inWords } from '@pipeline/web/format/reasons.ts';
import { STATE_NAMES } from '@pipeline/web/states/states.ts';
import type { Column } from '@pipeline/web/table/column.ts';
import { TwoLines } from '@pipeline/web/table/two-lines.tsx';
import { IssueAction } from '../../actions/issue-action.tsx';
import type { Issue } from '../../api/types.ts';
import { issuePath } from '../../navigation/issue-path.ts';
import { RowLink } from '../../navigation/row-link.tsx';
import { IssueCost } from './issue-cost.tsx';
import { phraseOf } from './phrase.ts';
import { PullRequest } from './pull-request.tsx';
import { TimeInState } from './time-in-state.tsx';

/** Returns the address of the issue for links: the tenant is named only where it is not the usual one. */
export const addressOf = ({ repo, issueNumber, tenant }: Issue): { to: string; search: Record<string, string> } => ({
  to: issuePath(repo, issueNumber),
  search: tenant === 'default' ? {} : { tenant },
});

const number: Column<Issue> = {
  id: 'number',
  header: 'Issue',
  width: '64px',
  sort: ({ issueNumber }) => issueNumber,
  cell: ({ issueNumber }) => `#${issueNumber}`,
};

const title: Column<Issue> = {
  id: 'title',
  header: 'Title',
  width: 'minmax(110px, 6fr)',
  sort: (issue) => issue.title,
  cell: (issue) => (
    <>
      <RowLink {...addressOf(issue)} title={issue.title}>
        <TitleText text={issue.title} />
      </RowLink>
      <IssueAction repo={issue.repo} issueNumber={issue.issueNumber} />
    </>
  ),
};

/** The whole row in one column of two lines. */
const narrow: Column<Issue> = {
  ...title,
  width: 'minmax(0, 1fr)',
  cell: (issue) => (
    <TwoLines
      first={
        <RowLink {...addressOf(issue)} title={issue.title}>
          #{issue.issueNumber} <TitleText text={issue.title} />
        </RowLink>
      }
      second={
        <>
          <StateChip state={issue.state} isPaused={issue.isPaused} isBlocked={issue.isBlocked} />
          <When at={issue.stateEnteredAt} as="since" />
          <IssueAction repo={issue.repo} issueNumber={issue.issueNumber} />
          <span>{phraseOf(issue)}</span>
        </>
      }
    />
  ),
};

const repo: Column<Issue> = {
  id: 'repo',
  header: 'Repository',
  width: 'minmax(90px, 1fr)',
  from: 1_200,
  sort: (issue) => issue.repo,
  cell: (issue) => issue.repo,
};

const others: readonly Column<Issue>[] = [
  {
    id: 'state',
    header: 'State',
    // Wide enough for the longest name where the columns of text can spare it.
    width: 'minmax(146px, 162px)',
    sort: ({ state }) => STATE_NAMES.indexOf(state),
    cell: ({ state, isPaused, isBlocked }) => <StateChip state={state} isPaused={isPaused} isBlocked={isBlocked} />,
  },
  {
    id: 'since',
    header: 'For',
    width: '84px',
    align: 'end',
    sort: ({ stateEnteredAt }) => (stateEnteredAt === null ? null : -Date.parse(stateEnteredAt)),
    cell: (issue) => <TimeInState issue={issue} />,
  },
  {
    id: 'why',
    header: 'Why',
    width: 'minmax(120px, 3fr)',
    from: 860,
    cell: (issue) => <span title={phraseOf(issue)}>{phraseOf(issue)}</span>,
  },
  {
    id: 'task',
    header: 'Task',
    width: '112px',
    from: 1_000,
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
    from: 1_100,
    sort: ({ attempt }) => attempt,
    cell: ({ attempt, maxAttempts }) => (attempt === null ? '' : `${attempt + 1} of ${maxAttempts}`),
  },
  {
    id: 'cost',
    header: 'Cost',
    width: '92px',
    align: 'end',
    from: 660,
    sort: ({ costUsd }) => costUsd,
    cell: (issue) => <IssueCost issue={issue} />,
  },
  {
    id: 'pr',
    header: 'PR',
    width: '64px',
    align: 'end',
    from: 760,
    sort: ({ prNumber }) => prNumber,
    cell: (issue) => <PullRequest issue={issue} />,
  },
];

interface Table {
  /** The issues are those of one repository. */
  hasRepo: boolean;
  isNarrow: boolean;
}

/** Columns of the issue table; the repository only where there are several. */
export function columnsOf({ hasRepo, isNarrow }: Table): readonly Column<Issue>[] {
  if (isNarrow) return [narrow];
  return hasRepo ? [number, title, ...others] : [number, title, repo, ...others];
}
