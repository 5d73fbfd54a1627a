import type { ActionPlan } from '../../actions/action.ts';
import { request } from '../../api/request.ts';

const named = (words: string, keys: readonly string[]): string =>
  keys.length === 0 ? '' : `${words} ${keys.join(', ')}`;

/** Reads the configuration file again; the result names the keys. */
export const reloadPlan = (): ActionPlan => ({
  grade: 1,
  verb: 'Reload',
  object: 'the configuration',
  effect: (
    <>
      <p>The file is validated as a whole: an invalid one changes nothing.</p>
      <p>
        Reloadable keys take effect at once in every process. The others are deferred until the process restarts, and
        are listed below. A monitor that runs without a configuration file has nothing to reload and refuses.
      </p>
    </>
  ),
  reason: 'none',
  run: async () => {
    const { appliedKeys, deferredKeys } = await request('reloadConfig', {});
    const parts = [named('applied', appliedKeys), named('deferred until a restart:', deferredKeys)].filter(Boolean);
    return parts.length === 0 ? 'nothing has changed' : parts.join('; ');
  },
});
