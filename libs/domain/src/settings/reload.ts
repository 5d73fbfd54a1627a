import type { ErrorCode } from '../errors.ts';

export const RELOAD_STATUSES = ['applied', 'partial', 'unchanged', 'failed'] as const;
/** What triggered a reload: an API call, SIGHUP, or a change by another process in the store. */
export const RELOAD_TRIGGERS = ['api', 'signal', 'watch'] as const;
export type ReloadTrigger = (typeof RELOAD_TRIGGERS)[number];

/** The result of a reload. `partial` = some changes wait for a restart. */
export interface ConfigReloadOutcome {
  status: (typeof RELOAD_STATUSES)[number];
  /** Applied since then. */
  appliedKeys: string[];
  /** Changed in the file, but read only at process start. */
  deferredKeys: string[];
  error: string | null;
  errorCode: ErrorCode | null;
  trigger: ReloadTrigger;
  at: string;
}

/** The outcome of a reload with these changed keys. */
export function reloadOutcome(
  changed: Pick<ConfigReloadOutcome, 'appliedKeys' | 'deferredKeys'>,
  about: Pick<ConfigReloadOutcome, 'trigger' | 'at'>,
): ConfigReloadOutcome {
  const { appliedKeys, deferredKeys } = changed;
  const news = appliedKeys.length > 0 ? 'applied' : 'unchanged';
  const status = deferredKeys.length > 0 ? 'partial' : news;
  return { status, appliedKeys, deferredKeys, error: null, errorCode: null, ...about };
}
