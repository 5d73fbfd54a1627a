import { type ConfigReloadOutcome, DEFAULT_SETTINGS, reloadOutcome, Settings } from '@pipeline/domain';
import { changedSettings } from '@pipeline/engine';
import { type Logger, type LoopMetrics, type Periodic, runPeriodically } from '@pipeline/runtime';
import { readSettings, type Store } from '@pipeline/store';
import { z } from 'zod';

/** Covers a lost notification; a change is published on the channel `svc_settings`. */
const EVERY_MS = 30_000;

interface FollowerDeps {
  store: Store;
  log: Logger;
  metrics: LoopMetrics;
  now: () => Date;
  /** Records that the settings of this process have changed. */
  record: (outcome: ConfigReloadOutcome) => Promise<void>;
}

/** Follows the settings that the monitor writes. No row: the built-in defaults. A bad row changes nothing. */
export class SettingsFollower {
  readonly loop: Periodic;
  readonly #deps: FollowerDeps;
  #settings: Settings = DEFAULT_SETTINGS;
  #version: number | null = null;

  constructor(deps: FollowerDeps) {
    this.#deps = deps;
    const { log, metrics } = deps;
    this.loop = runPeriodically(() => this.#follow(), { name: 'settings', everyMs: EVERY_MS, log, metrics });
  }

  get current(): Settings {
    return this.#settings;
  }

  async #follow(): Promise<void> {
    const { store, log } = this.#deps;
    const row = await readSettings(store.db);
    const version = row?.version ?? null;
    if (version === this.#version) return;
    const isFirst = this.#version === null;
    this.#version = version;
    const parsed = Settings.safeParse(row?.body ?? {});
    if (parsed.success) {
      const appliedKeys = changedSettings(this.#settings, parsed.data);
      this.#settings = parsed.data;
      log.info('settings applied', { version, appliedKeys });
      // What it finds at its start is no change to it.
      if (!isFirst) await this.#record(appliedKeys);
    } else {
      const problems = z.prettifyError(parsed.error);
      log.error('settings are not valid; the current settings are unchanged', { version, problems });
    }
  }
  #record(appliedKeys: string[]): Promise<void> {
    const { now, record } = this.#deps;
    return record(reloadOutcome({ appliedKeys, deferredKeys: [] }, { trigger: 'watch', at: now().toISOString() }));
  }
}
