import { onOff } from '@pipeline/web/address/fields.ts';
import { useAddress } from '@pipeline/web/address/use-address.ts';
import { FiguresTable } from '@pipeline/web/charts/figures-table.tsx';
import { Button } from '@pipeline/web/components/button.tsx';
import { plural } from '@pipeline/web/format/number.ts';
import { formatShort } from '@pipeline/web/format/time.ts';
import { preferences } from '@pipeline/web/preferences/preferences.ts';
import { useSignal } from '@pipeline/web/shared/use-signal.ts';
import { useWidth } from '@pipeline/web/shared/use-width.ts';
import { STATE_NAMES, STATES } from '@pipeline/web/states/states.ts';
import { useQuery } from '@tanstack/react-query';
import { lazy, memo, Suspense, useMemo, useRef } from 'react';
import type { Reply, State } from '../../api/types.ts';
import { StateLegend } from '../../charts/legend.tsx';
import { Panel } from '../../page/panel.tsx';
import { type CountTarget, CountTile } from './count-tile.tsx';
import { type Counts, countsOf, openCount } from './counts.ts';
import styles from './overview.module.css';
import { type OfRepo, overviewReads } from './overview-reads.ts';

/** A third of the page's script: the figures do not wait for it. */
const StackedArea = lazy(() => import('../../charts/stacked-area.tsx'));

const FIELDS = { done: onOff() };
const HEIGHT = 220;

const OPEN_STATES = STATE_NAMES.filter((state) => state !== 'done');
const TILES: readonly { state: State; target: CountTarget }[] = STATE_NAMES.map((state) => {
  const { label, glyph, colour } = STATES[state];
  return { state, target: { title: label, glyph, colour, to: '/issues', search: { state } } };
});

/** Counts by state now, and their course over the last 24 hours. */
export function StatesPanel({ repo }: OfRepo) {
  const { values, set } = useAddress(FIELDS);
  const { zone } = useSignal(preferences);
  const reads = overviewReads(repo);
  const series = useQuery(reads.series);
  const dashboard = useQuery(reads.dashboard);
  const counts = countsOf(repo, dashboard.data, series.data);
  const shown = values.done ? STATE_NAMES : OPEN_STATES;
  return (
    <Panel
      title="Issues by state, 24 hours"
      metrics={['open_issues', 'in_flight', 'in_progress', 'blocked', 'awaiting_review']}
      query={series}
      height={HEIGHT + 120}
      actions={
        <Button kind="quiet" onPress={() => set({ done: !values.done })}>
          {values.done ? 'Hide done' : 'Show done'}
        </Button>
      }
      table={() => (
        <FiguresTable
          caption="Number of issues in each state at the end of each half hour"
          head={['Time', ...shown.map((state) => STATES[state].label)]}
          rows={(series.data?.buckets ?? [])
            .toReversed()
            .map(({ ts, states }) => [formatShort(Date.parse(ts), zone), ...shown.map((state) => states[state])])}
        />
      )}
    >
      {() => (
        <>
          {counts && <StateTiles counts={counts} />}
          {series.data && <Chart series={series.data} shown={shown} />}
          <StateLegend states={shown} />
        </>
      )}
    </Panel>
  );
}

const Chart = memo(function Chart({ series, shown }: { series: Reply<'stateTimeseries'>; shown: typeof STATE_NAMES }) {
  const times = useMemo(() => series.buckets.map(({ ts }) => Date.parse(ts)), [series]);
  const layers = useMemo(
    () =>
      shown.map((state) => ({
        name: STATES[state].label,
        colour: STATES[state].colour,
        values: series.buckets.map(({ states }) => states[state]),
      })),
    [series, shown],
  );
  const place = useRef<HTMLDivElement>(null);
  const width = useWidth(place);
  const latest = series.buckets.at(-1)?.states;
  const summary = latest
    ? `${plural(openCount(latest), 'open issue')} now. Press “Show as table” for the figures.`
    : '';
  return (
    <div ref={place} style={{ minHeight: HEIGHT }}>
      <Suspense>
        <StackedArea summary={summary} times={times} layers={layers} width={width} height={HEIGHT} />
      </Suspense>
    </div>
  );
});

function StateTiles({ counts }: { counts: Counts }) {
  return (
    <ul className={styles.states} aria-label="Issues by state">
      {TILES.map(({ state, target }) => (
        <li key={state}>
          <CountTile target={target} count={counts[state]} />
        </li>
      ))}
    </ul>
  );
}
