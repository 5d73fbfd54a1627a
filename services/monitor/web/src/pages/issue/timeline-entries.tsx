import { When } from '@pipeline/web/components/when.tsx';
import { formatDuration } from '@pipeline/web/format/duration.ts';
import { titleInWords } from '@pipeline/web/format/host-writes.ts';
import { formatUsd } from '@pipeline/web/format/money.ts';
import { inWords } from '@pipeline/web/format/reasons.ts';
import { shortId } from '@pipeline/web/format/short-id.ts';
import { EmptyNote } from '@pipeline/web/page/empty-note.tsx';
import type { Column } from '@pipeline/web/table/column.ts';
import { DataTable } from '@pipeline/web/table/data-table.tsx';
import type { Timeline, TimelineEntry } from '../../api/types.ts';

const KINDS: Readonly<Record<string, string>> = { projection: 'host write', 'agent-run': 'agent' };

const COLUMNS: readonly Column<TimelineEntry>[] = [
  { id: 'time', header: 'Time', width: '124px', cell: ({ timestamp }) => <When at={timestamp} as="second" /> },
  { id: 'kind', header: 'Kind', width: '120px', from: 560, cell: ({ kind }) => KINDS[kind] ?? inWords(kind) },
  {
    id: 'title',
    header: 'What',
    width: 'minmax(140px, 3fr)',
    cell: (entry) => {
      const title = titleInWords(entry);
      return <span title={entry.error ?? title}>{entry.error ? `${title}: ${entry.error}` : title}</span>;
    },
  },
  {
    id: 'who',
    header: 'By',
    width: 'minmax(80px, 1fr)',
    from: 640,
    cell: ({ agent, actorId, actorType }) => {
      const who = agent ?? actorId ?? actorType;
      return who && <span title={who}>{shortId(who)}</span>;
    },
  },
  {
    id: 'took',
    header: 'Took',
    width: '84px',
    align: 'end',
    from: 760,
    cell: ({ durationMs }) => (durationMs === null ? '' : formatDuration(durationMs)),
  },
  {
    id: 'cost',
    header: 'Cost',
    width: '84px',
    align: 'end',
    from: 760,
    cell: ({ costUsd, kind }) => (costUsd === null && kind !== 'agent-run' ? '' : formatUsd(costUsd)),
  },
];

/** Every entry of the timeline, newest first. */
export function TimelineEntries({ timeline }: { timeline: Timeline }) {
  return (
    <DataTable
      label="Entries of the timeline, newest first"
      columns={COLUMNS}
      rows={timeline.entries.toReversed()}
      keyOf={({ id }) => id}
      empty={<EmptyNote title="Nothing has happened yet." />}
    />
  );
}
