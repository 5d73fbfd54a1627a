import { type Engine, listAllTracks } from '@pipeline/engine';
import { Gauge, type Registry } from 'prom-client';

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
