import { ConfigSync } from '../settings/config-sync.ts';
import { SettingsSync } from '../settings/settings-sync.ts';
import { SECOND_MS, type Wiring } from './wiring.ts';

/** Brings the repos and settings of the configuration into the store. */
export function addSettings({ engine, hosts, config, instance, log, loops, notifications }: Wiring): void {
  const ringSettings = () => notifications.notify('svc_settings');
  const settings = new SettingsSync({ engine, config, instance, ringSettings, log });
  const loop = loops.add('settings', 15 * SECOND_MS, () => settings.tick());
  notifications.on('svc_settings', () => loop.wake());
  const repos = new ConfigSync({ engine, hosts, config, log });
  loops.add('config-sync', 15 * SECOND_MS, () => repos.tick());
}
