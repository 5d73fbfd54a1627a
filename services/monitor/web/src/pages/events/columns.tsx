import { When } from '@pipeline/web/components/when.tsx';
import { PageLink } from '@pipeline/web/navigation/page-link.tsx';
import type { Column } from '@pipeline/web/table/column.ts';
import { TwoLines } from '@pipeline/web/table/two-lines.tsx';
import { issuePath } from '../../navigation/issue-path.ts';
import { type PipelineEvent, summaryOf, typeLabel } from './event-types.ts';
import styles from './events.module.css';

interface Table {
  /** Filters by the type of a row. */
  onType: (type: string) => void;
  isNarrow: boolean;
}

/** Columns of the list of events; on phones, one of two lines. */
export const columnsOf = ({ onType, isNarrow }: Table): readonly Column<PipelineEvent>[] =>
  isNarrow ? [narrow] : wideColumns(onType);

const narrow: Column<PipelineEvent> = {
  id: 'event',
  header: 'Event',
  width: 'minmax(0, 1fr)',
  cell: (event) => (
    <TwoLines
      first={
        <>
          <Subject event={event} />
          <span>{typeLabel(event.eventType)}</span>
        </>
      }
      second={
        <>
          <When at={event.createdAt} as="second" />
          <span>{summaryOf(event)}</span>
        </>
      }
    />
  ),
};

const wideColumns = (onType: Table['onType']): readonly Column<PipelineEvent>[] => [
  {
    id: 'time',
    header: 'Time',
    width: '124px',
    cell: ({ createdAt }) => <When at={createdAt} as="second" />,
  },
  { id: 'issue', header: 'Issue', width: 'minmax(110px, 0.7fr)', cell: (event) => <Subject event={event} /> },
  {
    id: 'type',
    header: 'Event',
    width: 'minmax(110px, 0.7fr)',
    cell: ({ eventType }) => (
      <button
        type="button"
        tabIndex={-1}
        className={styles.type}
        title={`Only ${eventType}`}
        onClick={() => onType(eventType)}
      >
        {typeLabel(eventType)}
      </button>
    ),
  },
  {
    id: 'what',
    header: 'What',
    width: 'minmax(0, 2fr)',
    cell: (event) => <span title={summaryOf(event)}>{summaryOf(event)}</span>,
  },
  { id: 'agent', header: 'Agent', width: 'minmax(80px, 140px)', cell: ({ agent }) => <span>{agent}</span>, from: 700 },
];

/** The issue or repo of an event. */
export function Subject({ event: { repoOwner, repoName, issueNumber } }: { event: PipelineEvent }) {
  const repo = `${repoOwner}/${repoName}`;
  if (issueNumber === null) return <span title={repo}>{repo}</span>;
  return (
    <PageLink to={issuePath(repo, issueNumber)} title={`${repo}#${issueNumber}`} tabIndex={-1}>
      {repoName}#{issueNumber}
    </PageLink>
  );
}
