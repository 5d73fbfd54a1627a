import { type Engine, listAllTracks, runDueTracks } from '@pipeline/engine';
import { Gauge, type Registry } from 'prom-client';
import { Lead } from '../loops/lead.ts';
import { SECOND_MS, type Wiring } from './wiring.ts';

/** The scheduler of tracks, and how many of them are late. */
export function addTracks({ engine, notifications, loops, metrics }: Wiring): void {
  const scheduler = loops.add('tracks', 10 * SECOND_MS, tracksTick(engine, new Lead(notifications, 'tracks')));
  notifications.on('svc_cache', () => scheduler.wake());
  loops.add('tracks-overdue', 30 * SECOND_MS, overdueGauge(metrics.registry, engine).look);
}

/** One replica leads, so that they do not wait for each other; two at once would make nothing twice. */
export const tracksTick = (engine: Engine, lead: Lead) => async () => {
  await lead.run(engine, runDueTracks);
};

/** Tracks that are late, as of the last look: their repos have no free place, or no scheduler runs them. */
export function overdueGauge(registry: Registry, engine: Engine): { look(): Promise<void> } {
  const gauge = new Gauge({
    name: 'svc_tracks_overdue',
    help: 'Number of overdue tracks, as of the last scan.',
    labelNames: ['repo'],
    registers: [registry],
  });
  return {
    async look() {
      const tracks = await listAllTracks(engine);
      gauge.reset();
      // Slugs of several tenants may be equal.
      for (const { owner, repo_name, overdue } of tracks) {
        if (overdue) gauge.inc({ repo: `${owner}/${repo_name}` });
      }
    },
  };
}
