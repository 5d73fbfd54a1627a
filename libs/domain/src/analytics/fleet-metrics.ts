import { DEFAULT_SETTINGS } from '../settings/settings.ts';
import { isOverdue } from '../tracks/track.ts';
import type { Metric, Term } from './definition.ts';

export const FLEET_METRICS: readonly (Metric | Term)[] = [
  {
    id: 'worker_count',
    group: 'Fleet',
    label: 'Worker count',
    unit: 'count',
    window: 'now',
    formula:
      'workers with a recent heartbeat (default 30 s) that have not signed off; each handles one issue at a time',
    source: 'GET /api/workers',
    compute: ({ workers }, { now }) =>
      workers.filter(
        ({ lastHeartbeatAt: heard, hasLeft }) =>
          !hasLeft && heard !== null && now - heard <= DEFAULT_SETTINGS.workerSilenceMs,
      ).length,
  },
  {
    id: 'si_tracks',
    group: 'Fleet',
    label: 'SI Tracks',
    unit: 'count',
    window: 'now',
    formula: 'configured self-improvement tracks',
    source: 'GET /api/si-tracks',
    compute: ({ tracks }) => tracks.length,
  },
  {
    id: 'si_tracks_overdue',
    group: 'Fleet',
    label: 'Overdue tracks',
    unit: 'count',
    window: 'now',
    formula:
      'enabled tracks with now - last_run_at > cooldown_minutes, or with a missed scheduled run; for a track without a run, the time counts from when its cadence was set',
    source: 'GET /api/si-tracks, items[].overdue',
    compute: ({ tracks }, { now }) => tracks.filter((track) => isOverdue(track, new Date(now))).length,
  },
  {
    id: 'cadence',
    group: 'Fleet',
    label: 'Cadence',
    unit: null,
    window: '-',
    formula:
      'cadenceKind with cooldownMinutes or cronExpr: a cooldown track runs again once the cooldown has elapsed, a cron track runs on its schedule',
    source: 'GET /api/si-tracks',
  },
];
