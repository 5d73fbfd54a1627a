import { formatDuration } from '@pipeline/web/format/duration.ts';
import { inWords } from '@pipeline/web/format/reasons.ts';
import { shortId } from '@pipeline/web/format/short-id.ts';
import type { Column } from '@pipeline/web/table/column.ts';
import type { Reply } from '../../api/types.ts';
import { IssueLink } from '../../navigation/issue-link.tsx';

export type Task = Reply<'pipelineTaskQueue'>['tasks'][number];

export const repoOf = ({ repoOwner, repoName }: Pick<Task, 'repoOwner' | 'repoName'>): string =>
  `${repoOwner}/${repoName}`;

/** Columns of the queue. Its own order is that in which tasks are claimed. */
export const QUEUE_COLUMNS: readonly Column<Task>[] = [
  {
    id: 'type',
    header: 'Task',
    width: 'minmax(80px, 130px)',
    sort: ({ taskType }) => taskType,
    cell: ({ taskType }) => inWords(taskType),
  },
  {
    id: 'issue',
    header: 'Issue',
    width: 'minmax(110px, 2fr)',
    sort: (task) => repoOf(task),
    cell: (task) =>
      task.issueNumber === 0 ? (
        `${repoOf(task)} (whole repository)`
      ) : (
        <IssueLink repo={repoOf(task)} issueNumber={task.issueNumber} tabIndex={-1} />
      ),
  },
  {
    id: 'status',
    header: 'Status',
    width: '64px',
    sort: ({ status }) => status,
    cell: ({ status }) => (status === 'pending' ? 'waits' : 'runs'),
  },
  {
    id: 'wait',
    header: 'Waited',
    width: '72px',
    align: 'end',
    from: 400,
    sort: ({ waitTimeMs }) => waitTimeMs,
    cell: ({ waitTimeMs }) => formatDuration(waitTimeMs),
  },
  {
    id: 'estimate',
    header: 'Estimate',
    width: '84px',
    align: 'end',
    from: 600,
    sort: ({ estimatedDurationMs }) => estimatedDurationMs,
    cell: ({ estimatedDurationMs }) => formatDuration(estimatedDurationMs),
  },
  {
    id: 'priority',
    header: 'Priority',
    width: '76px',
    align: 'end',
    from: 700,
    sort: ({ priority }) => priority,
    cell: ({ priority }) => priority,
  },
  {
    id: 'worker',
    header: 'Worker',
    width: 'minmax(90px, 1fr)',
    from: 820,
    sort: ({ claimedBy }) => claimedBy,
    cell: ({ claimedBy }) => claimedBy && <span title={claimedBy}>{shortId(claimedBy)}</span>,
  },
];
