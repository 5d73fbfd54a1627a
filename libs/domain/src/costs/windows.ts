import { DAY_MS, WINDOWS, windowMs } from '../windows.ts';

/** Windows of spending: those of the analytics, and the longer ones used for costs. */
export const COST_WINDOWS = [...WINDOWS, '30d', 'lifetime'] as const;
export type CostWindow = (typeof COST_WINDOWS)[number];

/** Start of a spending window; null = the first cost event. */
export function costWindowStart(window: CostWindow, now: Date): Date | null {
  if (window === 'lifetime') return null;
  return new Date(now.getTime() - (window === '30d' ? 30 * DAY_MS : windowMs(window)));
}
