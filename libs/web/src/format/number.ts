import { lazily } from '../shared/lazily.ts';
import { UNKNOWN } from './duration.ts';

const grouped = lazily(() => new Intl.NumberFormat('en-US'));
const compact = lazily(() => new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 1 }));
const tenth = lazily(() => new Intl.NumberFormat('en-US', { maximumFractionDigits: 1 }));
const hundredth = lazily(() => new Intl.NumberFormat('en-US', { maximumFractionDigits: 2 }));

export const formatCount = (count: number | null | undefined): string =>
  count === null || count === undefined ? UNKNOWN : grouped().format(count);

/** Large counts such as tokens: `1.2M`. */
export const formatCompact = (count: number): string => compact().format(count);

/** A percentage from 0 to 100. */
export const formatPercent = (percent: number | null | undefined): string =>
  percent === null || percent === undefined ? UNKNOWN : `${tenth().format(percent)} %`;

export const formatRatio = (ratio: number | null | undefined): string =>
  ratio === null || ratio === undefined ? UNKNOWN : hundredth().format(ratio);

/** Returns the count with its noun: `1 issue`, `3 issues`. */
export const plural = (count: number, noun: string, many = `${noun}s`): string =>
  `${formatCount(count)} ${count === 1 ? noun : many}`;

/** A signed difference: `+1.2`, `−0.4`, `0`. */
export const formatSigned = (value: number): string =>
  value === 0 ? '0' : `${value > 0 ? '+' : '−'}${tenth().format(Math.abs(value))}`;

/** A confidence from 0 to 1 as a percentage. */
export const formatConfidence = (confidence: number | null): string =>
  formatPercent(confidence === null ? null : Math.round(confidence * 100));
