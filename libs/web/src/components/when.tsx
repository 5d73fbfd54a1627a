import { formatAge, formatDuration, UNKNOWN } from '../format/duration.ts';
import { formatFull, formatShort } from '../format/time.ts';
import { preferences } from '../preferences/preferences.ts';
import { useSignal } from '../shared/use-signal.ts';
import { useNow } from '../timing/use-now.ts';

interface WhenProps {
  at: string | null | undefined;
  /** `age` = 3 min ago; `since` = 3 min; `time` = 22 Nov 10:42. */
  as?: 'age' | 'since' | 'time';
}

const MINUTE_MS = 60_000;

/** Seconds are shown in the first minute only. */
const stepOf = (at: string | null | undefined): number =>
  at && Date.now() - Date.parse(at) < MINUTE_MS ? 1_000 : 10_000;

/** A time; the whole date with its zone is in the title. */
export function When({ at, as = 'age' }: WhenProps) {
  const { zone } = useSignal(preferences);
  const now = useNow(as === 'time' ? MINUTE_MS : stepOf(at));
  if (!at) return <>{UNKNOWN}</>;
  const time = Date.parse(at);
  const text =
    as === 'time' ? formatShort(time, zone) : as === 'age' ? formatAge(time, now) : formatDuration(now - time);
  return (
    <time dateTime={at} title={formatFull(time, zone)}>
      {text}
    </time>
  );
}
