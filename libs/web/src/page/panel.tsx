import type { UseQueryResult } from '@tanstack/react-query';
import { memo, type ReactNode, useId, useState } from 'react';
import { Button } from '../components/button.tsx';
import { formatAge } from '../format/duration.ts';
import { formatClock } from '../format/time.ts';
import { preferences } from '../preferences/preferences.ts';
import { useSignal } from '../shared/use-signal.ts';
import { serverClock } from '../timing/server-clock.ts';
import { AGE_STEP_MS, useNow } from '../timing/use-now.ts';
import { FailureNote } from './failure-note.tsx';
import styles from './panel.module.css';
import { Skeleton } from './skeleton.tsx';

/** State of a query that a panel shows: its age, its error, and how to reload it. */
type Loaded = Pick<
  UseQueryResult<unknown>,
  'dataUpdatedAt' | 'error' | 'isFetching' | 'isPending' | 'refetch' | 'data'
>;

export interface PanelProps {
  title: ReactNode;
  /** Stands beside the title. */
  tip?: ReactNode;
  /** The source of the data no longer vouches for it: its time is shown instead of its age. */
  isOutdated?: boolean;
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
export function Panel({
  title,
  tip,
  isOutdated = false,
  query,
  polledAt,
  height,
  table,
  actions,
  children,
}: PanelProps) {
  const id = useId();
  const [asTable, setAsTable] = useState(false);
  const hasData = query.data !== undefined;
  return (
    <section className={styles.panel} aria-labelledby={id}>
      <header className={styles.head}>
        <div className={styles.heading}>
          <h2 id={id} className={styles.title}>
            {title}
          </h2>
          {tip}
        </div>
        {actions && <div className={styles.actions}>{actions}</div>}
        <div className={styles.tools}>
          <PanelAge query={query} polledAt={polledAt} isOutdated={isOutdated} />
          {table && <TableSwitch asTable={asTable} onChange={setAsTable} />}
          <Reload refetch={query.refetch} />
        </div>
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

interface TableSwitchProps {
  asTable: boolean;
  onChange: (asTable: boolean) => void;
}

// Buttons are memoised: they cost more than the figures of a panel, which change with every event.
const TableSwitch = memo(function TableSwitch({ asTable, onChange }: TableSwitchProps) {
  return (
    <Button
      kind="quiet"
      glyph={asTable ? 'trend' : 'table'}
      aria-label={asTable ? 'Show as chart' : 'Show as table'}
      onPress={() => onChange(!asTable)}
    />
  );
});

const Reload = memo(function Reload({ refetch }: Pick<Loaded, 'refetch'>) {
  return <Button kind="quiet" glyph="reload" aria-label="Reload" onPress={() => void refetch()} />;
});

/** Age of the data, or "as of" its time when it is outdated. */
function PanelAge({ query, polledAt, isOutdated }: Pick<PanelProps, 'query' | 'polledAt' | 'isOutdated'>) {
  const { zone } = useSignal(preferences);
  useNow(AGE_STEP_MS);
  if (query.data === undefined) return null;
  if (polledAt === null) return <span className={styles.age}>warming up</span>;
  const now = serverClock.now();
  // The time of a response is that of this browser, whose clock may be wrong.
  const at = polledAt === undefined ? query.dataUpdatedAt + now - Date.now() : Date.parse(polledAt);
  if (isOutdated || query.error) return <span className={styles.age}>as of {formatClock(at, zone)}</span>;
  return <span className={styles.age}>{formatAge(at, now)}</span>;
}
