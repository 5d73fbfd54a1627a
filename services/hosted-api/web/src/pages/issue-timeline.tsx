import { usePages } from '@pipeline/web/api/use-pages.ts';
import { Button } from '@pipeline/web/components/button.tsx';
import { StateChip } from '@pipeline/web/components/state-chip.tsx';
import { When } from '@pipeline/web/components/when.tsx';
import { formatDuration } from '@pipeline/web/format/duration.ts';
import { titleInWords } from '@pipeline/web/format/host-writes.ts';
import { formatUsd } from '@pipeline/web/format/money.ts';
import { EmptyNote } from '@pipeline/web/page/empty-note.tsx';
import layout from '@pipeline/web/page/layout.module.css';
import { Panel } from '@pipeline/web/page/panel.tsx';
import { request } from '../api/request.ts';
import type { Reply } from '../api/types.ts';
import { pollMs } from '../live/poll.ts';

type Entry = Reply<'browserTimeline'>['entries'][number];

const PAGE = 200;
const idOf = ({ id }: Entry): string => id;

interface IssueTimelineProps {
  org: string;
  repo: string;
  number: string;
}

/** History of an issue, oldest first. */
export function IssueTimeline({ org, repo, number }: IssueTimelineProps) {
  const { query, items, loadMore } = usePages({
    key: ['browserTimeline', org, repo, number],
    load: async (offset, signal) => {
      const input = { params: { number }, query: { org, repo, offset, limit: PAGE } };
      const { entries, total } = await request('browserTimeline', input, signal);
      const hasMore = entries.length > 0 && offset + entries.length < total;
      return { items: entries, page: { total, limit: PAGE, offset, hasMore } };
    },
    idOf,
    pollMs,
  });
  return (
    <Panel title="Timeline" query={query} height={300}>
      {() =>
        items.length === 0 ? (
          <EmptyNote title="Nothing has happened yet." />
        ) : (
          <>
            <ol className={layout.list}>
              {items.map((entry) => (
                <TimelineItem key={entry.id} entry={entry} />
              ))}
            </ol>
            {loadMore && <Button onPress={loadMore}>Show more</Button>}
          </>
        )
      }
    </Panel>
  );
}

const hasFacts = ({ kind, toState, agent, durationMs }: Entry): boolean =>
  kind === 'agent-run' || Boolean(toState ?? agent) || durationMs !== null;

function TimelineItem({ entry }: { entry: Entry }) {
  return (
    <li className={layout.item}>
      <span className={layout.line}>
        <span className={layout.grow}>{titleInWords(entry)}</span>
        <span className={layout.muted}>
          <When at={entry.timestamp} />
        </span>
      </span>
      {hasFacts(entry) && (
        <span className={layout.row}>
          {entry.toState && <StateChip state={entry.toState} />}
          {entry.agent && <span className={layout.muted}>{entry.agent}</span>}
          {entry.durationMs !== null && <span className={layout.muted}>{formatDuration(entry.durationMs)}</span>}
          {entry.kind === 'agent-run' && <span className={layout.muted}>cost {formatUsd(entry.costUsd)}</span>}
        </span>
      )}
      {entry.error && <pre className={layout.code}>{entry.error}</pre>}
    </li>
  );
}
