import { DEFAULT_SLATE, type Slate } from '../tracks/slate.ts';
import type { StrategyTrack } from './inputs.ts';
import type { SlateLine, StrategyChange } from './snapshot.ts';

/** The tracks before the changes. */
export const tracksAfter = (tracks: readonly StrategyTrack[], changes: readonly StrategyChange[]): StrategyTrack[] =>
  tracks.map((track) => {
    const mine = changes.filter((change) => change.track === track.name);
    return { ...track, ...Object.fromEntries(mine.map(({ field, to }) => [field, to])) };
  });

/**
 * The work that a change increases: slate entries that are new or larger, or the track's whole slate when its weight is
 * raised. null = none.
 * @param after the track with all changes applied.
 */
export function addedWork(change: StrategyChange, after: StrategyTrack): Slate | null {
  if (change.field === 'proposal') {
    const added = (change.to ?? DEFAULT_SLATE).filter((entry) => entry.count > countOf(change.from, entry));
    return added.length > 0 ? added : null;
  }
  return Number(change.to) > Number(change.from) ? (after.proposal ?? DEFAULT_SLATE) : null;
}

const countOf = (slate: Slate | null, { size, theme, label }: Slate[number]): number =>
  (slate ?? DEFAULT_SLATE)
    .filter((entry) => entry.size === size && entry.theme === theme && entry.label === label)
    .reduce((sum, { count }) => sum + count, 0);

/** The work of the enabled tracks, by size. */
export const slateOf = (tracks: readonly StrategyTrack[]): SlateLine[] =>
  tracks
    .filter(({ enabled }) => enabled)
    .flatMap(({ name, proposal }) =>
      (proposal ?? DEFAULT_SLATE).map(({ size, count }) => ({ track: name, size, count })),
    );
