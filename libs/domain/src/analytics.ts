import { MINUTE_MS, type TimeRange } from './windows.ts';


/**
 * The ends of the buckets of a window, oldest first; the last is the end of the window itself. The others lie on whole
 * minutes, at or before the even share, for states are summed up by the minute.
 */
export function bucketEnds({ start, end }: TimeRange, buckets: number): Date[] {
  const step = (end.getTime() - start.getTime()) / buckets;
  return Array.from({ length: buckets }, (_, index) => {
    if (index === buckets - 1) return end;
    const at = start.getTime() + (index + 1) * step;
    return new Date(Math.floor(at / MINUTE_MS) * MINUTE_MS);
  });
}

/** `part` of `whole` in percent with one decimal; null where there is no whole. */
export const ratePct = (part: number, whole: number): number | null =>
  whole === 0 ? null : Math.round((1000 * part) / whole) / 10;
