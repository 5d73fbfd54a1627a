import { Button } from '@pipeline/web/components/button.tsx';
import { When } from '@pipeline/web/components/when.tsx';
import { formatDuration } from '@pipeline/web/format/duration.ts';
import { Glyph } from '@pipeline/web/glyphs/glyph.tsx';
import type { Column } from '@pipeline/web/table/column.ts';
import { useNow } from '@pipeline/web/timing/use-now.ts';
import { startAction } from '../../actions/perform.ts';
import { discardWritePlan, retryWritePlan } from '../../actions/write-actions.ts';
import { IssueLink } from '../../navigation/issue-link.tsx';
import type { QueuedWrite } from './in-lanes.ts';
import { writeWords } from './write-words.ts';

/** Columns of the host writes; their order is that of sending. */
export const WRITE_COLUMNS: readonly Column<QueuedWrite>[] = [
  {
    id: 'issue',
    header: 'Issue',
    width: 'minmax(110px, 190px)',
    cell: ({ repo, issueNumber }) => <IssueLink repo={repo} issueNumber={issueNumber} tabIndex={-1} />,
  },
  {
    id: 'action',
    header: 'Write',
    width: 'minmax(120px, 3fr)',
    cell: (write) => (
      <>
        {write.place === 'head' && <Glyph name="warning" colour="--danger" />}
        <span title={writeWords(write.action)}>{writeWords(write.action)}</span>
      </>
    ),
  },
  {
    id: 'status',
    header: 'Status',
    width: '96px',
    cell: ({ status, place }) =>
      place === 'head' ? 'failed, holds' : place === 'follower' ? 'held back' : status === 'pending' ? 'waits' : status,
  },
  {
    id: 'attempts',
    header: 'Attempts',
    width: '76px',
    align: 'end',
    from: 560,
    cell: ({ attempts, maxAttempts }) => `${attempts} / ${maxAttempts}`,
  },
  {
    id: 'retry',
    header: 'Next try',
    width: '90px',
    align: 'end',
    from: 720,
    cell: ({ retryAfter }) => <NextTry at={retryAfter} />,
  },
  {
    id: 'error',
    header: 'Error',
    width: 'minmax(90px, 1fr)',
    from: 860,
    cell: ({ error }) => <span title={error ?? undefined}>{error}</span>,
  },
  {
    id: 'age',
    header: 'Age',
    width: '80px',
    align: 'end',
    from: 640,
    cell: ({ createdAt }) => <When at={createdAt} as="since" />,
  },
  { id: 'do', header: 'Actions', width: '156px', from: 480, cell: (write) => <WriteActions write={write} /> },
];

function NextTry({ at }: { at: string | null }) {
  const now = useNow();
  const wait = at === null ? 0 : Date.parse(at) - now;
  return wait > 0 ? `in ${formatDuration(wait)}` : '';
}

function WriteActions({ write }: { write: QueuedWrite }) {
  const target = { id: write.id, repo: write.repo, issueNumber: write.issueNumber, words: writeWords(write.action) };
  const isOpen = write.status === 'pending' || write.status === 'failed';
  return (
    <>
      <Button kind="quiet" tabIndex={-1} onPress={() => startAction(retryWritePlan(target))}>
        Retry
      </Button>
      {isOpen && (
        <Button kind="quiet" tabIndex={-1} onPress={() => startAction(discardWritePlan(target))}>
          Discard
        </Button>
      )}
    </>
  );
}
