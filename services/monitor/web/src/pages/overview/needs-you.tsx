import { formatCount } from '@pipeline/web/format/number.ts';
import { Glyph } from '@pipeline/web/glyphs/glyph.tsx';
import type { GlyphName } from '@pipeline/web/glyphs/glyph-paths.ts';
import { PageLink } from '@pipeline/web/navigation/page-link.tsx';
import { STATES } from '@pipeline/web/states/states.ts';
import { useQuery } from '@tanstack/react-query';
import { Panel } from '../../page/panel.tsx';
import { countsOf } from './counts.ts';
import styles from './overview.module.css';
import { type OfRepo, overviewReads } from './overview-reads.ts';

interface Need {
  title: string;
  glyph: GlyphName;
  colour?: string;
  to: string;
  search?: Record<string, string | undefined>;
  count: number | undefined;
}

const PEOPLE = ['failure-blocked', 'needs-clarification', 'human-review-ready'] as const;

/** What waits for a person, each with the page that shows it. */
export function NeedsYou({ repo }: OfRepo) {
  const reads = overviewReads(repo);
  const dashboard = useQuery(reads.dashboard);
  const series = useQuery(reads.series);
  const queue = useQuery(reads.queue);
  const alerts = useQuery(reads.alerts);
  const counts = countsOf(repo, dashboard.data, series.data);
  const needs: Need[] = [
    ...PEOPLE.map((state) => ({
      title: STATES[state].label,
      glyph: STATES[state].glyph,
      colour: STATES[state].colour,
      to: state === 'failure-blocked' ? '/trouble/blocked' : '/issues',
      search: state === 'failure-blocked' ? {} : { state },
      count: counts?.[state],
    })),
    { title: 'Dead letters', glyph: 'envelope', to: '/trouble/dead-letters', count: queue.data?.dlqDepth },
    {
      title: 'Failed host writes',
      glyph: 'writes',
      to: '/trouble/writes',
      search: { status: 'failed' },
      count: queue.data?.vcsWriteQueueFailed,
    },
    {
      title: 'Over their time limit',
      glyph: 'warning',
      to: '/issues',
      search: { sort: '-since' },
      count: alerts.data?.items.filter(({ detector }) => detector === 'sla_breach').length,
    },
  ];
  return (
    <Panel
      title="Needs you"
      metrics={['dlq_depth', 'write_queue', 'sla_breach']}
      query={repo ? series : dashboard}
      height={72}
    >
      {() => (
        <ul className={styles.tiles}>
          {needs.map((need) => (
            <li key={need.title}>
              <PageLink to={need.to} search={need.search} className={styles.tile}>
                <span className={styles.figure} data-zero={need.count === 0 || undefined}>
                  {formatCount(need.count)}
                </span>
                <span className={styles.word}>
                  <Glyph name={need.glyph} colour={need.colour} />
                  {need.title}
                </span>
              </PageLink>
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}
