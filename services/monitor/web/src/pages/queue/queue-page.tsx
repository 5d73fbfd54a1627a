import { text } from '@pipeline/web/address/fields.ts';
import { useAddress } from '@pipeline/web/address/use-address.ts';
import { FiguresTable } from '@pipeline/web/charts/figures-table.tsx';
import { formatDuration } from '@pipeline/web/format/duration.ts';
import { formatCount } from '@pipeline/web/format/number.ts';
import { inWords } from '@pipeline/web/format/reasons.ts';
import { EmptyNote } from '@pipeline/web/page/empty-note.tsx';
import { Facts } from '@pipeline/web/page/facts.tsx';
import layout from '@pipeline/web/page/layout.module.css';
import { Page } from '@pipeline/web/page/page.tsx';
import { DataTable } from '@pipeline/web/table/data-table.tsx';
import { useQuery } from '@tanstack/react-query';
import { read } from '../../api/query.ts';
import type { Reply } from '../../api/types.ts';
import { Bars } from '../../charts/bars.tsx';
import { issuePath } from '../../navigation/issue-path.ts';
import { useGo } from '../../navigation/use-go.ts';
import { useRepo } from '../../navigation/use-repo.ts';
import { Panel } from '../../page/panel.tsx';
import { QUEUE_COLUMNS, repoOf, type Task } from './columns.tsx';

const POLL_MS = 3_000;
const FIELDS = { sort: text(30), type: text(30) };

/** Page of the tasks that wait, for how long, and when each will be done. */
export default function QueuePage() {
  const { repo } = useRepo();
  const { values, set, rejected } = useAddress(FIELDS);
  const go = useGo();
  const queue = useQuery(read('pipelineTaskQueue', {}, POLL_MS));
  const depth = useQuery(read('queueDepth', {}, POLL_MS));
  const tasks = (queue.data?.tasks ?? []).filter(
    (task) => (repo === undefined || repoOf(task) === repo) && (values.type === '' || task.taskType === values.type),
  );
  return (
    <Page title="Queue" rejected={rejected}>
      <div className={layout.stack}>
        <Panel
          title="Depth"
          metrics={['pending_tasks', 'avg_queue_wait', 'oldest_pending_age', 'projected_drain']}
          query={queue}
          polledAt={queue.data?.polledAt}
          height={60}
        >
          {() => queue.data && <Facts facts={factsOf(queue.data)} />}
        </Panel>
        <Panel
          title="By task type"
          metrics={['pending_tasks', 'oldest_pending_age']}
          query={depth}
          height={190}
          table={() => depth.data && <TypeTable depth={depth.data} />}
        >
          {() => depth.data && <TypeBars depth={depth.data} />}
        </Panel>
        <Panel
          title={values.type === '' ? 'Tasks' : `Tasks of type ${inWords(values.type)}`}
          metrics={['est_duration']}
          query={queue}
          polledAt={queue.data?.polledAt}
          height={400}
        >
          {() => (
            <DataTable<Task>
              label="Tasks by priority, then age"
              columns={QUEUE_COLUMNS}
              rows={tasks}
              keyOf={({ id }) => id}
              order={values.sort}
              onOrder={(sort) => set({ sort })}
              onOpen={(task) => task.issueNumber > 0 && go(issuePath(repoOf(task), task.issueNumber))}
              empty={<EmptyNote tone="good" title="Nothing waits and nothing runs." />}
            />
          )}
        </Panel>
      </div>
    </Page>
  );
}

const factsOf = ({ summary, projectedDrainMs, truncated }: Reply<'pipelineTaskQueue'>) => [
  { name: 'Waiting', value: formatCount(summary.totalPending) },
  { name: 'Running', value: formatCount(summary.totalClaimed) },
  { name: 'Average wait', value: formatDuration(summary.avgWaitMs) },
  { name: 'Longest wait', value: formatDuration(summary.oldestPendingAgeMs) },
  // Without an estimate of any task there is nothing to add up.
  ...(projectedDrainMs === null ? [] : [{ name: 'Work ahead', value: formatDuration(projectedDrainMs) }]),
  ...(truncated ? [{ name: 'Listed', value: 'the first 2,000' }] : []),
];

function TypeBars({ depth }: { depth: Reply<'queueDepth'> }) {
  return (
    <Bars
      label="Tasks by type"
      figures="adaptive"
      bars={depth.byTaskType.map(({ taskType, pending, claimed, oldestPendingAgeMs }) => ({
        key: taskType,
        label: inWords(taskType),
        parts: [
          { name: 'running', value: claimed, colour: '--accent' },
          { name: 'waiting', value: pending, colour: '--control' },
        ],
        figure: `${formatCount(claimed)} run, ${formatCount(pending)} wait${oldestPendingAgeMs === null ? '' : ` · ${formatDuration(oldestPendingAgeMs)}`}`,
      }))}
    />
  );
}

function TypeTable({ depth }: { depth: Reply<'queueDepth'> }) {
  return (
    <FiguresTable
      caption="Tasks by type, all repositories"
      head={['Type', 'Running', 'Waiting', 'Longest wait']}
      rows={depth.byTaskType.map(({ taskType, pending, claimed, oldestPendingAgeMs }) => [
        inWords(taskType),
        claimed,
        pending,
        formatDuration(oldestPendingAgeMs),
      ])}
    />
  );
}
