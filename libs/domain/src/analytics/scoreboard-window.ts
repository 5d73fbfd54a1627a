import { DAY_MS, HOUR_MS } from '../windows.ts';

/** A window of the scoreboard: whole hours or days, because a comparison may need a day or many months of merges. */
export const SCOREBOARD_WINDOW = /^(?:[1-9]\d{0,3}h|[1-9]\d{0,2}d)$/;

/** Start of a window that ends now. `window` matches {@link SCOREBOARD_WINDOW}. */
export function scoreboardStart(window: string, now: Date): Date {
  const unitMs = window.endsWith('h') ? HOUR_MS : DAY_MS;
  return new Date(now.getTime() - Number.parseInt(window, 10) * unitMs);
}
