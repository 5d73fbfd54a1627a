import { formatDuration } from '@pipeline/web/format/duration.ts';
import { inWords } from '@pipeline/web/format/reasons.ts';
import { STATES } from '@pipeline/web/states/states.ts';
import { useQuery } from '@tanstack/react-query';
import type { Reply, State } from '../../api/types.ts';
import { Panel } from '../../page/panel.tsx';
import { type CountTarget, CountTile } from './count-tile.tsx';
import { countsOf } from './counts.ts';
import styles from './overview.module.css';
import { type OfRepo, overviewReads } from './overview-reads.ts';

const ofState = (state: State, where: Pick<CountTarget, 'to' | 'search'>): CountTarget => ({
  title: STATES[state].label,
  glyph: STATES[state].glyph,
  colour: STATES[state].colour,
  ...where,
});

const TARGETS = {
  blocked: ofState('failure-blocked', { to: '/trouble/blocked' }),
  unclear: ofState('needs-clarification', { to: '/issues', search: { state: 'needs-clarification' } }),
  reviewable: ofState('human-review-ready', { to: '/issues', search: { state: 'human-review-ready' } }),
  deadLetters: { title: 'Dead letters', glyph: 'envelope', to: '/trouble/dead-letters' },
  failedWrites: { title: 'Failed host writes', glyph: 'writes', to: '/trouble/writes', search: { status: 'failed' } },
  late: { title: 'Over their time limit', glyph: 'warning', to: '/issues', search: { sort: '-since' } },
} as const satisfies Record<string, CountTarget>;

type TaskType = Reply<'queueDepth'>['byTaskType'][number]['taskType'];

const withoutWorker = (type: TaskType): CountTarget => ({
  title: `No worker for ${inWords(type)} tasks`,
  glyph: 'workers',
  to: '/queue',
  search: { type },
});

/** One object per type, so that a tile renders only when its count changes. */
const WITHOUT_WORKER: Record<TaskType, CountTarget> = {
  analyze: withoutWorker('analyze'),
  plan: withoutWorker('plan'),
  develop: withoutWorker('develop'),
  review: withoutWorker('review'),
  merge: withoutWorker('merge'),
  retrospect: withoutWorker('retrospect'),
  'code-map-scan': withoutWorker('code-map-scan'),
};

/** List of what waits for a person, each with the page that shows it. */
export function NeedsYou({ repo }: OfRepo) {
  const reads = overviewReads(repo);
  const dashboard = useQuery(reads.dashboard);
  const series = useQuery(reads.series);
  const queue = useQuery(reads.queue);
  const alerts = useQuery(reads.alerts);
  const counts = countsOf(repo, dashboard.data, series.data);
  const needs: Record<keyof typeof TARGETS, number | undefined> = {
    blocked: counts?.['failure-blocked'],
    unclear: counts?.['needs-clarification'],
    reviewable: counts?.['human-review-ready'],
    deadLetters: queue.data?.dlqDepth,
    failedWrites: queue.data?.vcsWriteQueueFailed,
    late: alerts.data?.items.filter(({ detector }) => detector === 'sla_breach').length,
  };
  return (
    <Panel
      title="Needs you"
      metrics={['dlq_depth', 'write_queue', 'sla_breach']}
      query={repo ? series : dashboard}
      polledAt={repo ? undefined : dashboard.data?.polledAt}
      height={72}
    >
      {() => (
        <ul className={styles.tiles}>
          {(Object.keys(TARGETS) as (keyof typeof TARGETS)[]).map((name) => (
            <li key={name}>
              <CountTile target={TARGETS[name]} count={needs[name]} />
            </li>
          ))}
          {queue.data?.byTaskType
            .filter(({ withoutWorker }) => withoutWorker > 0)
            .map(({ taskType, withoutWorker, oldestWithoutWorkerAgeMs }) => (
              <li key={taskType}>
                <CountTile
                  target={WITHOUT_WORKER[taskType]}
                  count={withoutWorker}
                  note={`oldest waits for ${formatDuration(oldestWithoutWorkerAgeMs)}`}
                />
              </li>
            ))}
        </ul>
      )}
    </Panel>
  );
}
