import { TimeText } from '@pipeline/web/components/time-text.tsx';
import { formatClock } from '@pipeline/web/format/time.ts';
import { preferences } from '@pipeline/web/preferences/preferences.ts';
import { useSignal } from '@pipeline/web/shared/use-signal.ts';
import type { Column } from '@pipeline/web/table/column.ts';
import { TwoLines } from '@pipeline/web/table/two-lines.tsx';
import { contextText } from './context.ts';
import type { KeyedEntry } from './entries.ts';
import { Level } from './level.tsx';

const narrow: Column<KeyedEntry> = {
  id: 'entry',
  header: 'Entry',
  width: 'minmax(0, 1fr)',
  cell: (entry) => (
    <TwoLines
      first={
        <>
          <LogTime at={entry.timestamp} />
          <Level level={entry.level} />
          <span>{entry.msg}</span>
        </>
      }
      second={
        <>
          <span>{entry.agent}</span>
          <code>{contextText(entry)}</code>
        </>
      }
    />
  ),
};

const wide: readonly Column<KeyedEntry>[] = [
  { id: 'time', header: 'Time', width: '64px', cell: ({ timestamp }) => <LogTime at={timestamp} /> },
  { id: 'level', header: 'Level', width: '56px', cell: ({ level }) => <Level level={level} /> },
  {
    id: 'agent',
    header: 'Agent',
    width: 'minmax(80px, 130px)',
    cell: ({ agent }) => <span title={agent}>{agent}</span>,
    from: 640,
  },
  { id: 'msg', header: 'Message', width: 'minmax(0, 1fr)', cell: ({ msg }) => <span title={msg}>{msg}</span> },
  {
    id: 'context',
    header: 'Context',
    width: 'minmax(0, 1fr)',
    cell: (entry) => {
      const text = contextText(entry);
      return <code title={text}>{text}</code>;
    },
    from: 500,
  },
];

/** Columns of the list of log entries; on phones, one of two lines. */
export const columnsOf = (isNarrow: boolean): readonly Column<KeyedEntry>[] => (isNarrow ? [narrow] : wide);

/** The time of a log entry to the second; its day and zone are in the title. */
function LogTime({ at }: { at: string }) {
  const { zone } = useSignal(preferences);
  const time = Date.parse(at);
  return (
    <TimeText at={at} zone={zone}>
      {formatClock(time, zone)}
    </TimeText>
  );
}
