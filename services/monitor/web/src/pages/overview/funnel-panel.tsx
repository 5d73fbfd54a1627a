import { FiguresTable } from '@pipeline/web/charts/figures-table.tsx';
import { StateChip } from '@pipeline/web/components/state-chip.tsx';
import { formatMinutes } from '@pipeline/web/format/duration.ts';
import { formatCount, plural } from '@pipeline/web/format/number.ts';
import { EmptyNote } from '@pipeline/web/page/empty-note.tsx';
import { labelOf, STATES } from '@pipeline/web/states/states.ts';
import { useQuery } from '@tanstack/react-query';
import { memo } from 'react';
import type { Reply } from '../../api/types.ts';
import { Bars } from '../../charts/bars.tsx';
import { Panel } from '../../page/panel.tsx';
import styles from './overview.module.css';
import { type OfRepo, overviewReads } from './overview-reads.ts';

/** Progress of the issues of the last week, and how long they stayed in each state. */
export function FunnelPanel({ repo }: OfRepo) {
  const query = useQuery(overviewReads(repo).funnel);
  const funnel = query.data;
  return (
    <Panel
      title="Funnel, 7 days"
      query={query}
      height={280}
      table={() => (
        <FiguresTable
          caption="Issues that entered in the last 7 days"
          head={['State', 'Reached it', 'Median stay']}
          rows={(funnel?.byState ?? []).map(({ state, count, medianMinutes }) => [
            labelOf(state),
            formatCount(count),
            formatMinutes(medianMinutes),
          ])}
        />
      )}
    >
      {() =>
        !funnel || funnel.cohortSize === 0 ? (
          <EmptyNote title="No issue entered the pipeline in the last 7 days." />
        ) : (
          <Cohort funnel={funnel} />
        )
      }
    </Panel>
  );
}

const Cohort = memo(function Cohort({ funnel }: { funnel: Reply<'cohortFunnel'> }) {
  return (
    <>
      <p className={styles.muted}>
        {plural(funnel.cohortSize, 'issue')} entered. Beside each bar: how many reached the state, and their median time
        in it.
      </p>
      <Bars
        label="Issues that reached each state"
        bars={funnel.byState.map(({ state, count, medianMinutes }) => ({
          key: state,
          label: <StateChip state={state} />,
          parts: [{ name: 'issues', value: count, colour: STATES[state].colour }],
          figure: `${formatCount(count)} · ${formatMinutes(medianMinutes)}`,
        }))}
      />
    </>
  );
});
