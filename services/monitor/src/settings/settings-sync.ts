import { isDeepStrictEqual } from 'node:util';
import { Settings } from '@pipeline/domain';
import { type Engine, recordReload } from '@pipeline/engine';
import type { Logger } from '@pipeline/runtime';
import { readSettings, writeSettings } from '@pipeline/store';
import { z } from 'zod';
import type { ConfigInForce } from './config-in-force.ts';

interface SyncDeps {
  engine: Engine;
  config: ConfigInForce;
  /** This process among the monitors, such as `host:8090`. */
  instance: string;
  /** Notifies every process that the settings changed. */
  ringSettings: () => void;
  log: Logger;
}

/**
 * Keeps the settings in force and those in the store the same: writes the content of this process's file, once, and
 * follows what any monitor writes after that. Cost of a tick with nothing new: one read of one row.
 */
export class SettingsSync {
  readonly #deps: SyncDeps;
  #version: number | null = null;

  constructor(deps: SyncDeps) {
    this.#deps = deps;
  }

  async tick(): Promise<void> {
    await this.#write();
    await this.#report();
    await this.#follow();
  }

  /** The row keeps its version when nothing changed, so a restart wakes no replica. */
  async #write(): Promise<void> {
    const { engine, config, ringSettings, log } = this.#deps;
    const { unwritten } = config;
    if (unwritten === null) return;
    const body: unknown = JSON.parse(JSON.stringify(unwritten));
    const row = await readSettings(engine.store.db);
    if (isDeepStrictEqual(row?.body, body)) this.#version = row?.version ?? null;
    else {
      this.#version = await writeSettings(engine.store.db, body);
      ringSettings();
      log.info('settings written', { version: this.#version, source: config.running.source });
    }
    config.written(unwritten);
  }

  async #report(): Promise<void> {
    const { engine, config, instance } = this.#deps;
    for (const reload of [...config.unreported]) {
      await recordReload(engine, { agentName: 'monitor', instance, outcome: reload.outcome }, reload.actor);
      config.reported(reload);
    }
  }

  async #follow(): Promise<void> {
    const { engine, config, log } = this.#deps;
    const row = await readSettings(engine.store.db);
    if (!row || row.version === this.#version) return;
    const parsed = Settings.safeParse(row.body);
    if (parsed.success) config.follow(parsed.data);
    else {
      const problems = z.prettifyError(parsed.error);
      log.error('settings in the store are not valid; the current settings are unchanged', {
        version: row.version,
        problems,
      });
    }
    if (config.unwritten === null) this.#version = row.version;
  }
}
