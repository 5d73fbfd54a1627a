import { type Cadence, isOverdue, type TrackSettings, type TrackTimes } from '@pipeline/domain';
import type { TrackRow } from '@pipeline/store';

/** A track for operators; field names are those of the wire. */
export interface Track extends TrackSettings, TrackTimes {
  name: string;
  /** 0 = none yet: such a track creates nothing. */
  active_version: number;
  overdue: boolean;
}

const cadenceOf = (row: Pick<TrackRow, 'cadence_kind' | 'cron_expr'>): Cadence =>
  row.cadence_kind === 'cron' ? { kind: 'cron', expr: row.cron_expr ?? '' } : { kind: 'cooldown' };

export const timesOf = (row: TrackRow): TrackTimes => ({
  cadence: cadenceOf(row),
  cooldown_minutes: row.cooldown_minutes,
  enabled: row.enabled,
  schedule_since: row.schedule_since,
  last_run_at: row.last_run_at,
  next_run_at: row.next_run_at,
});

/** The settings alone, by the names under which they are changed. */
export const settingsOfTrack = (row: TrackRow): TrackSettings => ({
  label: row.label,
  cooldown_minutes: row.cooldown_minutes,
  enabled: row.enabled,
  proposal: row.proposal,
  cadence: cadenceOf(row),
  weight: row.weight,
});

export const trackOf = (row: TrackRow, now: Date): Track => ({
  name: row.name,
  active_version: row.active_version,
  ...settingsOfTrack(row),
  ...timesOf(row),
  overdue: isOverdue(timesOf(row), now),
});
