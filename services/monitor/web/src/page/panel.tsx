import { Button } from '@pipeline/web/components/button.tsx';
import { Tip } from '@pipeline/web/components/tip.tsx';
import { Panel as BasicPanel, type PanelProps } from '@pipeline/web/page/panel.tsx';
import { useQuery } from '@tanstack/react-query';
import { memo } from 'react';
import { read } from '../api/query.ts';
import { useOutdated } from '../stream/use-live.ts';
import styles from './panel.module.css';

interface LivePanelProps extends Omit<PanelProps, 'tip' | 'isOutdated'> {
  /** Metrics whose definitions the tip beside the title shows. */
  metrics?: readonly string[];
}

/** A panel whose data is kept up to date by the stream; it greys while the stream is cut. */
export function Panel({ metrics = [], ...props }: LivePanelProps) {
  const isOutdated = useOutdated();
  const tip = metrics.length > 0 && <DefinitionTip ids={metrics} />;
  return <BasicPanel {...props} tip={tip} isOutdated={isOutdated} />;
}

/** Definitions change only with releases. */
const definitions = { ...read('listMetricDefinitions', {}), staleTime: Number.POSITIVE_INFINITY };

type Ids = Readonly<{ ids: readonly string[] }>;
/** Panels name their metrics in a new array at every render. */
const haveSameIds = (a: Ids, b: Ids): boolean => a.ids.join() === b.ids.join();

/** The definition of figures, from the monitor's registry of metrics. */
const DefinitionTip = memo(function DefinitionTip({ ids }: Ids) {
  const { data } = useQuery(definitions);
  const found = ids.flatMap((id) => data?.items.find((item) => item.id === id) ?? []);
  if (found.length === 0) return null;
  return (
    <Tip
      text={
        <dl className={styles.list}>
          {found.map(({ id, label, formula, window, unit }) => (
            <div key={id}>
              <dt>{label}</dt>
              <dd>
                {formula}
                <span className={styles.facts}>{[window, unit].filter(Boolean).join(' · ')}</span>
              </dd>
            </div>
          ))}
        </dl>
      }
    >
      <Button kind="quiet" glyph="info" aria-label={`Definition of ${found.map(({ label }) => label).join(', ')}`} />
    </Tip>
  );
}, haveSameIds);
