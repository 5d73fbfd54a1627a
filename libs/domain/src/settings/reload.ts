import type { ErrorCode } from '../errors.ts';

export const RELOAD_STATUSES = ['applied', 'partial', 'unchanged', 'failed'] as const;
/** Who made a process look: a call, SIGHUP, or what another process wrote to the store. */
export const RELOAD_TRIGGERS = ['api', 'signal', 'watch'] as const;
export type ReloadTrigger = (typeof RELOAD_TRIGGERS)[number];

/** What a process made of a configuration that may have changed. `partial` = some of it waits for a restart. */
export interface ConfigReloadOutcome {
  status: (typeof RELOAD_STATUSES)[number];
  /** In force since then. */
  appliedKeys: string[];
  /** Changed in the file, and read only when the process starts. */
  deferredKeys: string[];
  error: string | null;
  errorCode: ErrorCode | null;
  trigger: ReloadTrigger;
  at: string;
}

/** The outcome of a reload that found these keys changed. */
export function reloadOutcome(
  changed: Pick<ConfigReloadOutcome, 'appliedKeys' | 'deferredKeys'>,
  told: Pick<ConfigReloadOutcome, 'trigger' | 'at'>,
): ConfigReloadOutcome {
  const { appliedKeys, deferredKeys } = changed;
  const news = appliedKeys.length > 0 ? 'applied' : 'unchanged';
  const status = deferredKeys.length > 0 ? 'partial' : news;
  return { status, appliedKeys, deferredKeys, error: null, errorCode: null, ...told };
}
