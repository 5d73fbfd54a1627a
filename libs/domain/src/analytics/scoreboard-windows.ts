import { DAY_MS, WINDOWS, windowMs } from '../windows.ts';

/** Windows of the scoreboard: those of the analytics, and longer ones, because a comparison needs many merges. */
export const SCOREBOARD_WINDOWS = [...WINDOWS, '30d', '90d'] as const;
export type ScoreboardWindow = (typeof SCOREBOARD_WINDOWS)[number];

/** Start of a window of the scoreboard that ends now. */
export function scoreboardStart(window: ScoreboardWindow, now: Date): Date {
  const longer = { '30d': 30 * DAY_MS, '90d': 90 * DAY_MS };
  return new Date(now.getTime() - (window === '30d' || window === '90d' ? longer[window] : windowMs(window)));
}
