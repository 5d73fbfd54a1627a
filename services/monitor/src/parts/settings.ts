import { ConfigSync } from '../loops/config-sync.ts';
import { SECOND_MS, type Wiring } from './wiring.ts';

/** Brings the repos and settings of the configuration into the store. */
export function addSettings({ engine, hosts, loaded, log, loops, doorbell }: Wiring): void {
  const sync = new ConfigSync({ engine, hosts, loaded, log, ringSettings: () => doorbell.ring('svc_settings') });
  const loop = loops.add('config-sync', 15 * SECOND_MS, () => sync.tick());
  doorbell.on('svc_settings', () => loop.wake());
}
