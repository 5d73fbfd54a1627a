import { TimeText } from '@pipeline/web/components/time-text.tsx';
import { formatClock } from '@pipeline/web/format/time.ts';
import { preferences } from '@pipeline/web/preferences/preferences.ts';
import { useSignal } from '@pipeline/web/shared/use-signal.ts';

/** The time of a log entry to the second; its day and zone are in the title. */
export function LogTime({ at }: { at: string }) {
  const { zone } = useSignal(preferences);
  const time = Date.parse(at);
  return (
    <TimeText at={at} zone={zone}>
      {formatClock(time, zone)}
    </TimeText>
  );
}
