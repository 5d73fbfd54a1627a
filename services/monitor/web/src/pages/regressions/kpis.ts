import { formatDuration, UNKNOWN } from '@pipeline/web/format/duration.ts';
import { formatUsd } from '@pipeline/web/format/money.ts';
import { formatPercent, formatRatio } from '@pipeline/web/format/number.ts';
import type { Reply } from '../../api/types.ts';

export type Kpi = Reply<'readRegressionGuard'>['repos'][number]['kpis'][number];

interface KpiLook {
  label: string;
  format: (value: number) => string;
}

const percent = (ratio: number): string => formatPercent(ratio * 100);

const LOOKS: Readonly<Record<Kpi['kpi'], KpiLook>> = {
  block_rate: { label: 'Issues that were blocked', format: percent },
  failure_blocked_rate: { label: 'Issues blocked by a failure', format: percent },
  mean_cost_usd: { label: 'Mean cost of an issue', format: formatUsd },
  mean_turns: { label: 'Mean turns of an issue', format: formatRatio },
  reimplement_loop_rate: { label: 'Issues implemented more than once', format: percent },
  dead_letter_rate: { label: 'Issues with a dead letter', format: percent },
  cycle_time_p50: { label: 'Median cycle time', format: (seconds) => formatDuration(seconds * 1_000) },
  autonomy_rate: { label: 'Merges without a person', format: formatPercent },
};

export const kpiLabel = (kpi: Kpi['kpi']): string => LOOKS[kpi].label;

export const kpiValue = (kpi: Kpi['kpi'], value: number | null): string =>
  value === null ? UNKNOWN : LOOKS[kpi].format(value);

/** Fewer issues on either side say nothing. */
const MIN_SAMPLES = 5;

export const isSmall = ({ currentSampleSize, baselineSampleSize }: Kpi): boolean =>
  Math.min(currentSampleSize, baselineSampleSize) < MIN_SAMPLES;

/** The change against the baseline: `+25 %, worse`. */
export function changeText({ relativeDelta, direction }: Kpi): string {
  if (relativeDelta === null) return UNKNOWN;
  const points = Math.round(relativeDelta * 100);
  if (points === 0) return 'no change';
  const isWorse = direction === 'rise' ? points > 0 : points < 0;
  return `${points > 0 ? '+' : '−'}${Math.abs(points)} %, ${isWorse ? 'worse' : 'better'}`;
}
