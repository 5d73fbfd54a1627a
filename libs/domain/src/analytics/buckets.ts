import { DAY_MS, MINUTE_MS, type TimeRange, utcDate, utcMidnight } from '../windows.ts';

/**
 * The ends of the buckets of a window, oldest first; the last is the end of the window. The others lie on whole
 * minutes, at or before the even share, because states are summed by minute; if buckets are shorter than a minute they
 * are exact.
 */
export function bucketEnds({ start, end }: TimeRange, buckets: number): { ends: Date[]; exact: boolean } {
  const step = (end.getTime() - start.getTime()) / buckets;
  const exact = step < MINUTE_MS;
  const endOf = (index: number): Date => {
    if (index === buckets - 1) return end;
    const at = start.getTime() + (index + 1) * step;
    return new Date(exact ? at : Math.floor(at / MINUTE_MS) * MINUTE_MS);
  };
  return { ends: Array.from({ length: buckets }, (_, index) => endOf(index)), exact };
}

/** The UTC dates of a range, oldest first, both ends included. */
export function datesOf({ start, end }: TimeRange): string[] {
  const dates: string[] = [];
  for (let at = utcMidnight(start).getTime(); at <= end.getTime(); at += DAY_MS) dates.push(utcDate(new Date(at)));
  return dates;
}
