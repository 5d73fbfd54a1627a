import type { ErrorCode } from '../errors.ts';

export const RELOAD_STATUSES = ['applied', 'partial', 'unchanged', 'failed'] as const;
/** Triggers of a reload: an API call, SIGHUP, or a change by another process in the store. */
export const RELOAD_TRIGGERS = ['api', 'signal', 'watch'] as const;
export type ReloadTrigger = (typeof RELOAD_TRIGGERS)[number];

/** The result of a reload. `partial` = some changes wait for a restart. */
export interface ConfigReloadOutcome {
  status: (typeof RELOAD_STATUSES)[number];
  /** Keys whose new value is in effect. */
  appliedKeys: string[];
  /** Changed in the file, but read only at process start. */
  deferredKeys: string[];
  error: string | null;
  errorCode: ErrorCode | null;
  trigger: ReloadTrigger;
  at: string;
}

/** Builds the outcome of a successful reload. */
export function reloadOutcome(
  changed: Pick<ConfigReloadOutcome, 'appliedKeys' | 'deferredKeys'>,
  request: Pick<ConfigReloadOutcome, 'trigger' | 'at'>,
): ConfigReloadOutcome {
  const { appliedKeys, deferredKeys } = changed;
  const statusIfApplied = appliedKeys.length > 0 ? 'applied' : 'unchanged';
  const status = deferredKeys.length > 0 ? 'partial' : statusIfApplied;
  return { status, appliedKeys, deferredKeys, error: null, errorCode: null, ...request };
}
