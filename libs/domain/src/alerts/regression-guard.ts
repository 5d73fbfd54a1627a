import { badDirection, type Kpi, type KpiDirection, type KpiWeek } from '../analytics/kpis.ts';
import { ratio, sum } from '../figures.ts';

export const KPI_MAGNITUDES = ['low', 'medium', 'high', 'large'] as const;
export type KpiMagnitude = (typeof KPI_MAGNITUDES)[number];

/** The current week, and the number of weeks before it in the baseline. */
export const KPI_WEEKS = 5;
/** Number of snapshots in a KPI's history: one a day. */
export const KPI_HISTORY = 30;
/** Minimum number of issues on either side of a comparison. */
const MIN_KPI_SAMPLES = 5;
/** A relative change of at least this much is a regression. */
export const REGRESSION_FROM = 0.2;

const UPPER: readonly [KpiMagnitude, number][] = [
  ['low', REGRESSION_FROM],
  ['medium', 0.5],
  ['high', 1],
];

/** Severity of a relative change, in either direction; `low` without one. */
export const magnitudeOf = (relativeDelta: number | null): KpiMagnitude =>
  UPPER.find(([, limit]) => Math.abs(relativeDelta ?? 0) < limit)?.[0] ?? 'large';

/** Rounded, so that 0.5 to 0.6 counts as a fifth. */
const toMillionths = (delta: number): number => Math.round(delta * 1_000_000) / 1_000_000;

/** The guard's evaluation of a KPI. */
export interface KpiVerdict {
  currentValue: number | null;
  baselineValue: number | null;
  /** (current - baseline) / baseline; null when either is unknown, or the baseline is 0. */
  relativeDelta: number | null;
  currentSampleSize: number;
  baselineSampleSize: number;
  regressed: boolean;
  magnitude: KpiMagnitude;
  direction: KpiDirection;
}

/**
 * Compares the current week with the mean of the weeks before it that have a value.
 * @param weeks the current one first.
 */
export function judgeKpi(kpi: Kpi, [current, ...before]: readonly KpiWeek[]): KpiVerdict {
  const known = before.flatMap(({ value }) => (value === null ? [] : [value]));
  const baselineValue = ratio(sum(known), known.length);
  const currentValue = current?.value ?? null;
  const currentSampleSize = current?.sampleSize ?? 0;
  const baselineSampleSize = sum(before.map(({ sampleSize }) => sampleSize));
  const relativeDelta =
    currentValue === null || baselineValue === null || baselineValue === 0
      ? null
      : toMillionths((currentValue - baselineValue) / baselineValue);
  const direction = badDirection(kpi);
  const worse = direction === 'rise' ? (relativeDelta ?? 0) : -(relativeDelta ?? 0);
  const isTold = Math.min(currentSampleSize, baselineSampleSize) >= MIN_KPI_SAMPLES;
  return {
    currentValue,
    baselineValue,
    relativeDelta,
    currentSampleSize,
    baselineSampleSize,
    regressed: isTold && worse >= REGRESSION_FROM,
    magnitude: magnitudeOf(relativeDelta),
    direction,
  };
}
