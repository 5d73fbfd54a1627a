import type { Column } from '@pipeline/web/table/column.ts';
import type { KeyedEntry } from './entries.ts';
import { Level } from './level.tsx';
import { LogTime } from './log-time.tsx';

export const COLUMNS: readonly Column<KeyedEntry>[] = [
  { id: 'time', header: 'Time', width: '64px', cell: ({ timestamp }) => <LogTime at={timestamp} /> },
  { id: 'level', header: 'Level', width: '56px', cell: ({ level }) => <Level level={level} /> },
  {
    id: 'agent',
    header: 'Agent',
    width: 'minmax(80px, 130px)',
    cell: ({ agent }) => <span title={agent}>{agent}</span>,
    from: 420,
  },
  { id: 'msg', header: 'Message', width: 'minmax(0, 1fr)', cell: ({ msg }) => <span title={msg}>{msg}</span> },
  {
    id: 'context',
    header: 'Context',
    width: 'minmax(0, 1fr)',
    cell: ({ context }) => {
      const text = Object.entries(context)
        .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
        .join(' ');
      return <code title={text.slice(0, 1_000)}>{text.slice(0, 400)}</code>;
    },
    from: 900,
  },
];
