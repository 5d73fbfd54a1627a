import { Button } from '@pipeline/web/components/button.tsx';
import { formatAge } from '@pipeline/web/format/duration.ts';
import { formatClock } from '@pipeline/web/format/time.ts';
import { FailureNote } from '@pipeline/web/page/failure-note.tsx';
import { Skeleton } from '@pipeline/web/page/skeleton.tsx';
import { preferences } from '@pipeline/web/preferences/preferences.ts';
import { useSignal } from '@pipeline/web/shared/use-signal.ts';
import { type ReactNode, useId, useState } from 'react';
import type { Loaded } from '../api/query.ts';
import { isOutdated } from '../stream/live-state.ts';
import { useLive } from '../stream/use-live.ts';
import { DefinitionTip } from './definition-tip.tsx';
import styles from './panel.module.css';

interface PanelProps {
  title: ReactNode;
  /** Metrics whose definitions the tip beside the title shows. */
  metrics?: readonly string[];
  query: Loaded;
  /** Time at which cached data was read from the store; null = the first poll is not complete. */
  polledAt?: string | null;
  /** Height of the content, for its skeleton. */
  height: number;
  /** The same figures as a table, for a chart. */
  table?: () => ReactNode;
  actions?: ReactNode;
  children: () => ReactNode;
}

/** A titled part of a page with its age, its reload and its own error; other panels are not affected by it. */
export function Panel({ title, metrics = [], query, polledAt, height, table, actions, children }: PanelProps) {
  const id = useId();
  const [asTable, setAsTable] = useState(false);
  const hasData = query.data !== undefined;
  return (
    <section className={styles.panel} aria-labelledby={id}>
      <header className={styles.head}>
        <h2 id={id} className={styles.title}>
          {title}
        </h2>
        {metrics.length > 0 && <DefinitionTip ids={metrics} />}
        <span className={styles.space} />
        {actions}
        <PanelAge query={query} polledAt={polledAt} />
        {table && (
          <Button
            kind="quiet"
            glyph={asTable ? 'trend' : 'table'}
            aria-label={asTable ? 'Show as chart' : 'Show as table'}
            onPress={() => setAsTable(!asTable)}
          />
        )}
        <Button kind="quiet" glyph="reload" aria-label="Reload" onPress={() => void query.refetch()} />
      </header>
      {query.error && (
        <FailureNote
          what={hasData ? 'Not up to date' : 'Could not be read'}
          error={query.error}
          onRetry={() => void query.refetch()}
        />
      )}
      {hasData ? (
        <div className={styles.content}>{asTable && table ? table() : children()}</div>
      ) : (
        !query.error && <Skeleton height={height} />
      )}
    </section>
  );
}

/** Age of the data, or "as of" its time when the stream no longer vouches for it. */
function PanelAge({ query, polledAt }: Pick<PanelProps, 'query' | 'polledAt'>) {
  const { zone } = useSignal(preferences);
  const { state } = useLive();
  if (query.data === undefined) return null;
  if (polledAt === null) return <span className={styles.age}>warming up</span>;
  const at = polledAt === undefined ? query.dataUpdatedAt : Date.parse(polledAt);
  if (isOutdated(state) || query.error) return <span className={styles.age}>as of {formatClock(at, zone)}</span>;
  return <span className={styles.age}>{formatAge(at, Date.now())}</span>;
}
