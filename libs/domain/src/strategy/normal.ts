import { isDeepStrictEqual } from 'node:util';
import type { StrategyTrack } from './inputs.ts';
import type { StrategyChange, StrategyField } from './snapshot.ts';

/**
 * The value of a track's field without strategy. Goes back over the changes that led to its current value, as long as
 * each one begins where the previous one ended; a value that somebody else set since is normal.
 * @param past changes that were applied, newest first.
 */
export function normalOf<F extends StrategyField>(
  track: StrategyTrack,
  field: F,
  past: readonly StrategyChange[],
): StrategyTrack[F] {
  const mine = past.filter((change) => change.track === track.name && change.field === field);
  let value: unknown = track[field];
  for (const change of mine) {
    if (!isDeepStrictEqual(change.to, value)) break;
    value = change.from;
  }
  return value as StrategyTrack[F];
}
