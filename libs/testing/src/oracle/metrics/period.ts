import type { State } from '@pipeline/domain';
import type { Rows } from '../rows.ts';

/** A window of milliseconds since 1970; both ends are included. */
export interface Period {
  from: number;
  now: number;
}

/** One number; null = no value; several by name, such as one for each agent. */
export type MetricValue = number | null | Readonly<Record<string, number>>;

/** Computes a figure literally from its definition in the registry. */
export type Metric = (rows: Rows, period: Period) => MetricValue;

export const isWithin = ({ from, now }: Period, at: number | null): at is number =>
  at !== null && at >= from && at <= now;

/** Issues that were moved to one of these states in the period. */
export const movedTo = ({ transitions }: Rows, period: Period, ...states: State[]): Set<number> =>
  new Set(
    transitions.filter(({ to, at }) => states.includes(to) && isWithin(period, at)).map(({ issueId }) => issueId),
  );
