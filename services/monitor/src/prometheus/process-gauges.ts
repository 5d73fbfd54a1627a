import type { Registry } from 'prom-client';
import manifest from '../../package.json' with { type: 'json' };
import { registerGauges } from './gauges.ts';

/** Registers the gauges of the process itself; they exist also without a store. */
export function registerProcessGauges(registry: Registry, now: () => Date): void {
  const startedAt = now().getTime();
  registerGauges(registry, [
    { name: 'svc_up', help: '1 while the monitor is running.', labels: [], read: () => [[{}, 1]] },
    {
      name: 'svc_uptime_seconds',
      help: 'Seconds since the start of the process.',
      labels: [],
      read: () => [[{}, (now().getTime() - startedAt) / 1_000]],
    },
    {
      name: 'svc_build_info',
      help: 'Version of the running release; always 1.',
      labels: ['version'],
      read: () => [[{ version: manifest.version }, 1]],
    },
  ]);
}
