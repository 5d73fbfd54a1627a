import { AppError, type Cadence, MINUTE_MS, type TrackTimes } from '@pipeline/domain';
import { Cron } from 'croner';

/** Schedules are in UTC, which has no daylight saving: no hour is repeated or skipped. */
const scheduleOf = (expr: string): Cron => new Cron(expr, { timezone: 'UTC', mode: '5-part' });

/** Five fields or a name such as @daily. No `?`: it would mean a different minute at each parse. */
const CRON = /^(@[a-z]+|[^\s?@]+(\s+[^\s?]+){4})$/i;

/**
 * Refuses an invalid schedule, or one without a future run.
 * @throws AppError INVALID_BODY describing the syntax.
 */
export function checkCadence(cadence: Cadence, now: Date): void {
  if (cadence.kind === 'cooldown') return;
  const { expr } = cadence;
  const example = 'expected minute, hour, day of month, month and day of week, such as "0 3 * * 1"';
  if (!CRON.test(expr.trim())) throw new AppError('INVALID_BODY', `cadence.expr: ${example}, got "${expr}"`);
  let next: Date | null;
  try {
    next = scheduleOf(expr).nextRun(now);
  } catch (cause) {
    const problem = cause instanceof Error ? cause.message : String(cause);
    throw new AppError('INVALID_BODY', `cadence.expr: ${problem} (${example})`, { cause });
  }
  if (next === null) throw new AppError('INVALID_BODY', `cadence.expr: "${expr}" never matches a time`);
}

/**
 * The next run of a track; null for a disabled one. With a cooldown: once that has elapsed since its last run, and
 * immediately if it never ran. With a schedule: the first scheduled time after its last run, or after the schedule was
 * set. So a track that missed several runs is due once.
 */
export function nextRunOf(track: Omit<TrackTimes, 'next_run_at'>): Date | null {
  const { cadence, cooldown_minutes, enabled, last_run_at, schedule_since } = track;
  if (!enabled) return null;
  const since = Date.parse(schedule_since);
  const last = last_run_at === null ? null : Date.parse(last_run_at);
  if (cadence.kind === 'cooldown') return new Date(last === null ? since : last + cooldown_minutes * MINUTE_MS);
  return scheduleOf(cadence.expr).nextRun(new Date(Math.max(since, last ?? since)));
}
