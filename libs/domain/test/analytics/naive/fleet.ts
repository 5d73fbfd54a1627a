import type { History, Period } from '@pipeline/domain';
import { dollars, middle, type Naive, share, within } from './terms.ts';

const DAY = 86_400_000;
const waiting = (h: History) => h.tasks.filter((t) => t.status !== 'claimed');
const samples = (h: History, now: number, repoId: number, agent: string) =>
  h.runs
    .filter((r) => r.repoId === repoId && r.agent === agent && r.isCompleted)
    .filter((r) => r.finishedAt !== null && r.finishedAt >= now - 7 * DAY && r.finishedAt <= now)
    .map((r) => (r.finishedAt ?? 0) - r.claimedAt);
const estimate = (h: History, now: number, repoId: number, agent: string) => {
  const found = samples(h, now, repoId, agent);
  const value = middle(found);
  return found.length < 5 || value === null ? null : Math.round(value);
};
/** Minute by minute is sufficient: facts lie on a grid of minutes. */
const degraded = (h: History, p: Period) => {
  const minutes = new Set<number>();
  for (const { kind, from, to } of h.workerPeriods) {
    if (kind === 'online') continue;
    const end = Math.min(to ?? p.now, from + 3_600_000, p.now);
    for (let t = Math.max(from, p.from); t < end; t += 60_000) minutes.add(t);
  }
  return minutes.size * 60;
};

/** Cost, queue, worker and track metrics. */
export const FLEET: Readonly<Record<string, Naive>> = {
  cost_today: (h, p) =>
    dollars(h.costs.filter((c) => c.at >= p.now - (p.now % DAY) && c.at <= p.now).map((c) => c.usd)),
  cost: (h, p) => dollars(h.costs.filter((c) => within(p, c.at)).map((c) => c.usd)),
  dlq_depth: (h) => h.deadLetters.filter((d) => !d.isResolved).length,
  pending_tasks: (h) => waiting(h).length,
  avg_queue_wait(h, p) {
    let all = 0;
    for (const t of waiting(h)) all += p.now - t.createdAt;
    return share(all, waiting(h).length);
  },
  oldest_pending_age: (h, p) =>
    waiting(h)
      .map((t) => p.now - t.createdAt)
      .sort((a, b) => b - a)[0] ?? null,
  est_duration(h, p) {
    const found: Record<string, number> = {};
    for (const { repoId, agent } of h.runs) {
      const ms = estimate(h, p.now, repoId, agent);
      if (ms !== null) found[`${repoId}/${agent}`] = ms;
    }
    return found;
  },
  projected_drain(h, p) {
    let drain: number | null = null;
    for (const t of waiting(h)) {
      const ms = estimate(h, p.now, t.repoId, t.agent);
      if (ms !== null) drain = (drain ?? 0) + ms;
    }
    return drain;
  },
  write_queue: (h) => h.projections.filter((w) => ['pending', 'failed'].includes(w.status)).length,
  worker_count: (h, p) =>
    h.workers.filter((w) => !w.hasLeft && w.lastHeartbeatAt !== null && w.lastHeartbeatAt >= p.now - 30_000).length,
  si_tracks: (h) => h.tracks.length,
  si_tracks_overdue(h, p) {
    let late = 0;
    for (const { enabled, cadence, cooldown_minutes: minutes, schedule_since, last_run_at, next_run_at } of h.tracks) {
      const since = Date.parse(last_run_at ?? schedule_since);
      const scheduled = next_run_at === null ? p.now : Date.parse(next_run_at);
      if (enabled && p.now > (cadence.kind === 'cron' ? scheduled : since + minutes * 60_000)) late += 1;
    }
    return late;
  },
  fleet_degraded_time: degraded,
};
