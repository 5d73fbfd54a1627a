import { StateChip } from '@pipeline/web/components/state-chip.tsx';
import { TitleText } from '@pipeline/web/components/title-text.tsx';
import { When } from '@pipeline/web/components/when.tsx';
import type { Column } from '@pipeline/web/table/column.ts';
import { IssueAction } from '../../actions/issue-action.tsx';
import { IssueLink } from '../../navigation/issue-link.tsx';
import { type BlockedIssue, repoOf } from './groups.ts';

export const BLOCKED_COLUMNS: readonly Column<BlockedIssue>[] = [
  {
    id: 'issue',
    header: 'Issue',
    width: 'minmax(110px, 1fr)',
    sort: ({ issueNumber }) => issueNumber,
    cell: (issue) => <IssueLink repo={repoOf(issue)} issueNumber={issue.issueNumber} tabIndex={-1} />,
  },
  {
    id: 'title',
    header: 'Title',
    width: 'minmax(120px, 2fr)',
    from: 420,
    sort: ({ title }) => title,
    cell: (issue) => (
      <>
        <span title={issue.title}>
          <TitleText text={issue.title} />
        </span>
        <IssueAction repo={repoOf(issue)} issueNumber={issue.issueNumber} />
      </>
    ),
  },
  {
    id: 'state',
    header: 'State',
    width: 'minmax(110px, 160px)',
    from: 620,
    sort: ({ state }) => state,
    cell: ({ state }) => <StateChip state={state} />,
  },
  {
    id: 'since',
    header: 'For',
    width: '84px',
    align: 'end',
    sort: ({ blockedSince }) => (blockedSince === null ? null : -Date.parse(blockedSince)),
    cell: ({ blockedSince }) => <When at={blockedSince} as="since" />,
  },
  {
    id: 'error',
    header: 'Last error',
    width: 'minmax(120px, 2fr)',
    from: 760,
    cell: ({ lastError }) => <span title={lastError ?? undefined}>{lastError}</span>,
  },
];
