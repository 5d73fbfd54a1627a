import { isDeepStrictEqual } from 'node:util';
import {
  AppError,
  type ConfigReloadOutcome,
  DEFERRED_KEYS,
  type ReloadTrigger,
  reloadOutcome,
  type Settings,
  settingsOf,
} from '@pipeline/domain';
import { type Actor, changedSettings } from '@pipeline/engine';
import type { Logger } from '@pipeline/runtime';
import { type LoadedConfig, loadConfig, type Variables } from './config.ts';

interface ConfigDeps {
  /** Configuration at the start of the process. */
  loaded: LoadedConfig;
  /** The file; undefined = the built-in default. */
  path: string | undefined;
  /** Variables that the file names must be set among these. */
  variables: Variables;
  log: Logger;
  now: () => Date;
}

export interface ReportedReload {
  outcome: ConfigReloadOutcome;
  /** Operator who requested the reload; null where the store notified it. */
  actor: Actor | null;
}

/**
 * The configuration that this process goes by. Its file speaks at the start and at a reload; then the settings go to the
 * store, and what any monitor wrote there last holds in all of them:
 *
 *   file -(start, reload)-> in force here, unwritten -(settings loop)-> in the store -(notifications)-> in force elsewhere
 *
 * Keys that are read only at a start stay as they were then. `repos` is no setting: the store has the repos, and each
 * process adds those of its own file.
 */
export class ConfigInForce {
  readonly #deps: ConfigDeps;
  readonly #handlers = new Set<() => void>();
  readonly #unreported: ReportedReload[] = [];
  #file: LoadedConfig;
  #settings: Settings;
  #unwritten: Settings | null;
  #lastReload: ConfigReloadOutcome | null = null;
  #tail: Promise<unknown> = Promise.resolve();

  constructor(deps: ConfigDeps) {
    this.#deps = deps;
    this.#file = deps.loaded;
    this.#settings = settingsOf(deps.loaded.config);
    this.#unwritten = this.#settings;
  }

  /** Configuration at the start of the process; deferred keys are read from here. */
  get running(): LoadedConfig {
    return this.#deps.loaded;
  }

  /** The file as it was last read; its repos are added to the store. */
  get file(): LoadedConfig {
    return this.#file;
  }

  get settings(): Settings {
    return this.#settings;
  }

  get lastReload(): ConfigReloadOutcome | null {
    return this.#lastReload;
  }

  /** Settings of this process's file that the store does not have yet. */
  get unwritten(): Settings | null {
    return this.#unwritten;
  }

  /** Outcomes that the store does not have yet, oldest first. */
  get unreported(): readonly ReportedReload[] {
    return this.#unreported;
  }

  /** Called after each change of the settings in force. */
  onChange(handler: () => void): void {
    this.#handlers.add(handler);
  }

  /** The store has these. A reload since then remains to be written. */
  written(settings: Settings): void {
    if (this.#unwritten === settings) this.#unwritten = null;
  }

  /** The store has this outcome. */
  reported(reload: ReportedReload): void {
    const index = this.#unreported.indexOf(reload);
    if (index >= 0) this.#unreported.splice(index, 1);
  }

  /** Applies the settings of the store, unless this process has newer ones to write. */
  follow(settings: Settings): void {
    if (this.#unwritten !== null) return;
    const appliedKeys = changedSettings(this.#settings, settings);
    const isSame = isDeepStrictEqual(this.#settings, settings);
    this.#settings = settings;
    if (isSame) return;
    const outcome = reloadOutcome({ appliedKeys, deferredKeys: [] }, { trigger: 'watch', at: this.#at() });
    this.#deps.log.info('settings of another monitor applied', { appliedKeys });
    this.#ended(outcome, null);
  }

  /**
   * Reads the file again: all of it is good, or nothing changes. One reload at a time.
   * @throws AppError NO_CONFIG_FILE, CONFIG_LOAD_FAILED, CONFIG_VALIDATION_FAILED.
   */
  reload(trigger: ReloadTrigger, actor: Actor): Promise<ConfigReloadOutcome> {
    const run = this.#tail.then(() => this.#reload(trigger, actor));
    this.#tail = run.catch(() => undefined);
    return run;
  }

  async #reload(trigger: ReloadTrigger, actor: Actor): Promise<ConfigReloadOutcome> {
    const { path, variables, loaded, log } = this.#deps;
    if (path === undefined) {
      throw new AppError('NO_CONFIG_FILE', 'PIPELINE_CONFIG is not set; the built-in default configuration is used');
    }
    const read = await loadConfig(path, variables).catch((error: unknown) => this.#refuse(error, trigger, actor));
    const settings = settingsOf(read.config);
    const hasNewRepos = !isDeepStrictEqual(read.config.repos, this.#file.config.repos);
    const appliedKeys = [...(hasNewRepos ? ['repos'] : []), ...changedSettings(this.#settings, settings)];
    const deferredKeys = DEFERRED_KEYS.filter((key) => !isDeepStrictEqual(read.config[key], loaded.config[key]));
    this.#file = read;
    this.#settings = settings;
    this.#unwritten = settings;
    const outcome = reloadOutcome({ appliedKeys, deferredKeys }, { trigger, at: this.#at() });
    log.info('configuration reloaded', { source: read.source, trigger, actor: actor.id, appliedKeys, deferredKeys });
    this.#ended(outcome, actor);
    return outcome;
  }

  #refuse(error: unknown, trigger: ReloadTrigger, actor: Actor): never {
    if (error instanceof AppError) {
      const { code: errorCode, message } = error;
      this.#deps.log.error('configuration reload failed; the configuration is unchanged', {
        trigger,
        actor: actor.id,
        error,
      });
      const nothing = reloadOutcome({ appliedKeys: [], deferredKeys: [] }, { trigger, at: this.#at() });
      this.#ended({ ...nothing, status: 'failed', error: message, errorCode }, actor);
    }
    throw error;
  }

  #ended(outcome: ConfigReloadOutcome, actor: Actor | null): void {
    this.#lastReload = outcome;
    this.#unreported.push({ outcome, actor });
    // While the store is away for long, old outcomes are of no use.
    if (this.#unreported.length > MAX_UNTOLD) this.#unreported.shift();
    for (const handler of this.#handlers) handler();
  }

  #at(): string {
    return this.#deps.now().toISOString();
  }
}

const MAX_UNTOLD = 100;
