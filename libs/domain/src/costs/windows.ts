import { DAY_MS, WINDOWS, windowMs } from '../windows.ts';

/** Windows of spending: those of the analytics, and the longer ones that costs are shown for. */
export const COST_WINDOWS = [...WINDOWS, '30d', 'lifetime'] as const;
export type CostWindow = (typeof COST_WINDOWS)[number];

/** Where a window of spending begins; null = with the first cent. */
export function costWindowStart(window: CostWindow, now: Date): Date | null {
  if (window === 'lifetime') return null;
  return new Date(now.getTime() - (window === '30d' ? 30 * DAY_MS : windowMs(window)));
}
