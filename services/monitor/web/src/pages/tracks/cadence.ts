import { formatMinutes } from '@pipeline/web/format/duration.ts';

const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];

const clock = (hour: string, minute: string): string => `${hour.padStart(2, '0')}:${minute.padStart(2, '0')} UTC`;

/** Returns the usual cron schedules in words, such as `Monday at 03:00 UTC`; others as they are, with their zone. */
export function cronInWords(expr: string): string {
  const [minute = '', hour = '', day = '', month = '', weekday = ''] = expr.trim().split(/\s+/, 5);
  const raw = `${expr} (UTC)`;
  if (month !== '*' || !/^\d{1,2}$/.test(minute)) return raw;
  if (hour === '*' && day === '*' && weekday === '*') return `every hour at minute ${minute}`;
  if (!/^\d{1,2}$/.test(hour)) return raw;
  const at = clock(hour, minute);
  if (day === '*' && weekday === '*') return `every day at ${at}`;
  if (day === '*' && /^[0-7]$/.test(weekday)) return `${DAYS[Number(weekday)]} at ${at}`;
  if (/^\d{1,2}$/.test(day) && weekday === '*') return `day ${day} of the month at ${at}`;
  return raw;
}

interface CadenceOf {
  cadenceKind: 'cooldown' | 'cron';
  cooldownMinutes: number | null;
  cronExpr: string | null;
}

/** Describes in words when a track runs. */
export const cadenceInWords = ({ cadenceKind, cooldownMinutes, cronExpr }: CadenceOf): string =>
  cadenceKind === 'cron' ? cronInWords(cronExpr ?? '') : `${formatMinutes(cooldownMinutes)} after the last run`;
