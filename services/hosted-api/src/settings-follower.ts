import { DEFAULT_SETTINGS, Settings } from '@pipeline/domain';
import { type Logger, type LoopMetrics, type Periodic, runPeriodically } from '@pipeline/runtime';
import { readSettings, type Store } from '@pipeline/store';
import { z } from 'zod';

/** Covers a lost ring; a change is told by the doorbell `svc_settings`. */
const EVERY_MS = 30_000;

/** Follows the settings that the monitor writes. No row: the built-in defaults. A bad row changes nothing. */
export class SettingsFollower {
  readonly loop: Periodic;
  readonly #store: Store;
  readonly #log: Logger;
  #settings: Settings = DEFAULT_SETTINGS;
  #version: number | null = null;

  constructor({ store, log, metrics }: { store: Store; log: Logger; metrics: LoopMetrics }) {
    this.#store = store;
    this.#log = log;
    this.loop = runPeriodically(() => this.#follow(), { name: 'settings', everyMs: EVERY_MS, log, metrics });
  }

  get current(): Settings {
    return this.#settings;
  }

  async #follow(): Promise<void> {
    const row = await readSettings(this.#store.fleet);
    const version = row?.version ?? null;
    if (version === this.#version) return;
    this.#version = version;
    const parsed = Settings.safeParse(row?.body ?? {});
    if (parsed.success) {
      this.#settings = parsed.data;
      this.#log.info('settings in force', { version });
    } else {
      const problems = z.prettifyError(parsed.error);
      this.#log.error('settings are not valid; those in force are kept', { version, problems });
    }
  }
}
