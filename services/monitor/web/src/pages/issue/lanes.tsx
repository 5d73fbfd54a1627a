import { formatDuration } from '@pipeline/web/format/duration.ts';
import { formatUsd } from '@pipeline/web/format/money.ts';
import { formatShort } from '@pipeline/web/format/time.ts';
import { preferences } from '@pipeline/web/preferences/preferences.ts';
import { useSignal } from '@pipeline/web/shared/use-signal.ts';
import { labelOf, STATES } from '@pipeline/web/states/states.ts';
import { type PointerEvent, type ReactNode, useState } from 'react';
import type { Timeline } from '../../api/types.ts';
import { StateLegend } from '../../charts/legend.tsx';
import { apart } from './apart.ts';
import styles from './lanes.module.css';
import { runsOf, type Span, scaleOf, spanOf, staysOf } from './timeline-scale.ts';
import { timeAt, zoomedScale } from './zoom.ts';

interface Brush {
  from: number;
  to: number;
}

/** A shorter drag is a click. */
const SHORTEST = 0.01;

interface LanesProps {
  timeline: Timeline;
  isCollapsed: boolean;
  /** The part that is shown; null = all. */
  part: Span | null;
  onPart: (part: Span) => void;
}

/** Three lanes to scale: the states, the runs of agents with their cost, and the writes to the host. Dragging zooms. */
export function Lanes({ timeline, isCollapsed, part, onPart }: LanesProps) {
  const { zone } = useSignal(preferences);
  const allStays = staysOf(timeline);
  const allRuns = runsOf(timeline);
  const { from, to } = spanOf(timeline);
  const at = zoomedScale(scaleOf(timeline, isCollapsed), part);
  const span = part ?? { from, to };
  const { brush, handlers } = useBrush((chosen) =>
    onPart({ from: timeAt(at, span, chosen.from), to: timeAt(at, span, chosen.to) }),
  );
  if (!(to >= from)) return null;
  const place = (start: number, end: number) => ({
    left: `${at(start) * 100}%`,
    width: `${Math.max(0, at(end) - at(start)) * 100}%`,
  });
  const spanOnLane = (mark: Span): Span => ({ from: at(mark.from), to: at(mark.to) });
  const stays = apart(allStays, spanOnLane);
  const runs = apart(allRuns, spanOnLane);
  const writes = apart(
    timeline.entries.filter(({ kind }) => kind === 'projection'),
    ({ timestamp }) => spanOnLane({ from: Date.parse(timestamp), to: Date.parse(timestamp) }),
  );
  const summary = `${allStays.length} stays in states and ${allRuns.length} runs in ${formatDuration(to - from)}`;
  return (
    <figure className={styles.lanes} aria-label={summary}>
      <div className={styles.surface} {...handlers}>
        {brush && (
          <span
            className={styles.brush}
            style={{ left: `${brush.from * 100}%`, width: `${(brush.to - brush.from) * 100}%` }}
          />
        )}
      </div>
      <Lane name="State">
        {stays.map((stay) => (
          <span
            key={stay.from}
            className={styles.stay}
            style={{ ...place(stay.from, stay.to), background: `var(${STATES[stay.state].colour})` }}
            title={`${labelOf(stay.state)} from ${formatShort(stay.from, zone)} for ${formatDuration(stay.to - stay.from)}`}
          />
        ))}
      </Lane>
      <Lane name="Agents">
        {runs.map((run) => (
          <span
            key={run.id}
            className={styles.run}
            data-failed={run.status === 'failed' || undefined}
            style={place(run.from, run.to)}
            title={`${run.title}, ${formatDuration(run.to - run.from)}, ${formatUsd(run.costUsd)}`}
          />
        ))}
      </Lane>
      <Lane name="Host writes">
        {writes.map(({ id, timestamp, title }) => (
          <span
            key={id}
            className={styles.write}
            style={{ left: `${at(Date.parse(timestamp)) * 100}%` }}
            title={title}
          />
        ))}
      </Lane>
      <figcaption className={styles.ends}>
        <span>{formatShort(span.from, zone)}</span>
        <span>{formatShort(span.to, zone)}</span>
      </figcaption>
      <StateLegend states={[...new Set(allStays.map(({ state }) => state))]} />
    </figure>
  );
}

function Lane({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className={styles.lane}>
      <span className={styles.name}>{name}</span>
      <span className={styles.track}>{children}</span>
    </div>
  );
}

/** Selects a part of a width, 0 to 1, by dragging with the pointer. */
function useBrush(onSelect: (part: Brush) => void) {
  const [brush, setBrush] = useState<Brush | null>(null);
  const placeOf = (event: PointerEvent<HTMLElement>): number => {
    const { left, width } = event.currentTarget.getBoundingClientRect();
    return Math.min(1, Math.max(0, (event.clientX - left) / Math.max(1, width)));
  };
  return {
    brush: brush && { from: Math.min(brush.from, brush.to), to: Math.max(brush.from, brush.to) },
    handlers: {
      onPointerDown: (event: PointerEvent<HTMLElement>): void => {
        if (event.button !== 0 || event.pointerType === 'touch') return; // a finger scrolls
        event.currentTarget.setPointerCapture(event.pointerId);
        setBrush({ from: placeOf(event), to: placeOf(event) });
      },
      onPointerMove: (event: PointerEvent<HTMLElement>): void => {
        if (brush) setBrush({ ...brush, to: placeOf(event) });
      },
      onPointerUp: (): void => {
        setBrush(null);
        if (brush === null || Math.abs(brush.to - brush.from) < SHORTEST) return;
        onSelect({ from: Math.min(brush.from, brush.to), to: Math.max(brush.from, brush.to) });
      },
      onPointerCancel: (): void => setBrush(null),
    },
  };
}
