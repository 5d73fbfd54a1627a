import { formatPercent, plural } from '@pipeline/web/format/number.ts';
import { PageLink } from '@pipeline/web/navigation/page-link.tsx';
import { EmptyNote } from '@pipeline/web/page/empty-note.tsx';
import { useQuery } from '@tanstack/react-query';
import { memo } from 'react';
import type { Reply } from '../../api/types.ts';
import { Bars } from '../../charts/bars.tsx';
import { Panel } from '../../page/panel.tsx';
import styles from './overview.module.css';
import { type OfRepo, overviewReads } from './overview-reads.ts';

type Pool = NonNullable<Reply<'readDashboard'>['workerPool']>[number];

/** Returns the number of workers by status; draining and offline ones only where there are any. */
const statusWords = ({ busy, idle, draining, offline }: Pool): string =>
  [
    `${busy} busy`,
    `${idle} idle`,
    ...(draining > 0 ? [`${draining} draining`] : []),
    ...(offline > 0 ? [`${offline} offline`] : []),
  ].join(', ');

const MOST_SHOWN = 12;

/** Repos with the most waiting tasks and the most workers at work first. */
const byWork = (a: Pool, b: Pool): number => b.queueDepth - a.queueDepth || b.busy - a.busy || b.total - a.total;

/** Workers of the repos with the most work, by what they do. */
export function PoolPanel({ repo }: OfRepo) {
  const query = useQuery(overviewReads(repo).dashboard);
  return (
    <Panel title="Worker pool" metrics={['worker_count']} query={query} polledAt={query.data?.polledAt} height={90}>
      {() => <Pools all={query.data?.workerPool} repo={repo} />}
    </Panel>
  );
}

const Pools = memo(function Pools({ all = [], repo }: OfRepo & { all: Pool[] | undefined }) {
  const pools = all.filter((pool) => repo === undefined || pool.repo === repo);
  if (pools.every(({ total }) => total === 0)) return <EmptyNote title="No worker is online." />;
  const shown = pools.toSorted(byWork).slice(0, MOST_SHOWN);
  return (
    <>
      <Bars
        label="Workers by repository"
        figures="below"
        bars={shown.map((pool) => ({
          key: pool.repo,
          label: pool.repo,
          parts: [
            { name: 'busy', value: pool.busy, colour: '--accent' },
            { name: 'idle', value: pool.idle, colour: '--control' },
            { name: 'draining', value: pool.draining, colour: '--warning' },
            { name: 'offline', value: pool.offline, colour: '--danger' },
          ],
          figure: `${statusWords(pool)} · ${formatPercent(pool.utilizationPct)} · ${plural(pool.queueDepth, 'task')} waiting`,
        }))}
      />
      <p className={styles.muted}>
        {pools.length > shown.length &&
          `and ${plural(pools.length - shown.length, 'other repository', 'other repositories')} · `}
        <PageLink to="/workers">All workers</PageLink>
      </p>
    </>
  );
});
