import { formatAge, formatDuration, UNKNOWN } from '../format/duration.ts';
import { formatSecond, formatShort } from '../format/time.ts';
import { preferences } from '../preferences/preferences.ts';
import { useSignal } from '../shared/use-signal.ts';
import { AGE_STEP_MS, useNow } from '../timing/use-now.ts';
import { TimeText } from './time-text.tsx';

interface WhenProps {
  at: string | null | undefined;
  /** `age` = 3 min ago; `since` = 3 min; `time` = 22 Nov 10:42; `second` = 22 Nov 10:42:07. */
  as?: 'age' | 'since' | 'time' | 'second';
}

const MINUTE_MS = 60_000;

/** A time; the whole date with its zone is in the title. */
export function When({ at, as = 'age' }: WhenProps) {
  const { zone } = useSignal(preferences);
  const now = useNow(as === 'time' || as === 'second' ? MINUTE_MS : AGE_STEP_MS);
  if (!at) return <>{UNKNOWN}</>;
  const time = Date.parse(at);
  const text = {
    age: () => formatAge(time, now),
    since: () => formatDuration(now - time),
    time: () => formatShort(time, zone),
    second: () => formatSecond(time, zone),
  }[as]();
  return (
    <TimeText at={at} zone={zone}>
      {text}
    </TimeText>
  );
}
