import { FiguresTable } from '@pipeline/web/charts/figures-table.tsx';
import { formatDuration } from '@pipeline/web/format/duration.ts';
import { formatCount } from '@pipeline/web/format/number.ts';
import { EmptyNote } from '@pipeline/web/page/empty-note.tsx';
import layout from '@pipeline/web/page/layout.module.css';
import type { UseQueryResult } from '@tanstack/react-query';
import type { Reply } from '../../api/types.ts';
import { Panel } from '../../page/panel.tsx';

const HEAD = [
  'Repository',
  'Done',
  'After a block',
  'Cycle p50',
  'Cycle p90',
  'Dead letters',
  'Tasks retried',
  'Retries',
];

const duration = (seconds: number | null): string => formatDuration(seconds === null ? null : seconds * 1_000);

/** Completed issues, recoveries and retries of the last seven days. */
export function ReliabilityPanel({ query }: { query: UseQueryResult<Reply<'weeklyReliability'>> }) {
  const data = query.data;
  return (
    <Panel
      title="Reliability, 7 days"
      metrics={[
        'completed',
        'recovered',
        'cycle_p50',
        'cycle_p90',
        'dead_letters',
        'tasks_retried',
        'total_retries_consumed',
      ]}
      query={query}
      height={120}
    >
      {() =>
        !data || data.repos.length === 0 ? (
          <EmptyNote title="No repository is enabled." />
        ) : (
          <div className={layout.stack}>
            <FiguresTable
              caption="Reliability of each repository in the last seven days"
              head={HEAD}
              rows={data.repos.map((each) => [
                each.repo,
                formatCount(each.completedCount),
                formatCount(each.recoveredCount),
                duration(each.cycleTime.p50Seconds),
                duration(each.cycleTime.p90Seconds),
                formatCount(each.deadLetters.count),
                formatCount(each.retryBudget.tasksRetried),
                formatCount(each.retryBudget.totalRetriesConsumed),
              ])}
            />
            <p className={layout.muted}>
              {data.degradedSeconds === 0
                ? 'No worker was silent or stalled.'
                : `At least one worker of the fleet was silent or stalled for ${duration(data.degradedSeconds)}.`}
            </p>
          </div>
        )
      }
    </Panel>
  );
}
