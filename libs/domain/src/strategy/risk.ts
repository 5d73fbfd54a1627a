import { DEFAULT_SLATE, SLATE_SIZES, type Slate, type SlateSize } from '../tracks/track.ts';
import type { StrategyTrack } from './inputs.ts';
import type { CharterEnvelope, SlateLine, StrategyChange, StrategyRisk } from './snapshot.ts';
import { namedBy, plainTheme } from './words.ts';

export const isLarger = (size: SlateSize, than: SlateSize): boolean =>
  SLATE_SIZES.indexOf(size) > SLATE_SIZES.indexOf(than);

/** The largest of some sizes; `small` where there are none. */
const largestOf = (sizes: readonly SlateSize[]): SlateSize =>
  SLATE_SIZES.findLast((size) => sizes.includes(size)) ?? 'small';

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
function addedWork(change: StrategyChange, after: StrategyTrack): Slate | null {
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

/**
 * Compares changes with the charter. The envelope's `avoid` forbids increasing what it names; a size above
 * max_auto_size, a name in `escalate_when` and enabling a disabled track need an operator.
 * @param tracks the current ones. @param envelope null = there is no charter: nothing is forbidden, all needs an
 * operator.
 */
export function assessRisk(
  changes: readonly StrategyChange[],
  tracks: readonly StrategyTrack[],
  envelope: CharterEnvelope | null,
): StrategyRisk {
  const after = new Map(tracksAfter(tracks, changes).map((track) => [track.name, track]));
  const looked = changes.flatMap((change) => {
    const track = after.get(change.track);
    return track ? [lookAt(change, track)] : [];
  });
  const maxSize = largestOf(looked.flatMap(({ added }) => (added ?? []).map(({ size }) => size)));
  const violations = envelope ? looked.flatMap((look) => forbidden(look, envelope)) : [];
  const needsApproval = [
    ...(envelope ? sizeTooLarge(maxSize, envelope) : ['there is no active charter']),
    ...looked.flatMap((look) => escalations(look, envelope?.escalate_when ?? [])),
  ];
  return { maxSize, withinEnvelope: violations.length === 0, violations, needsApproval };
}

interface Look {
  change: StrategyChange;
  names: string[];
  added: Slate | null;
}

function lookAt(change: StrategyChange, track: StrategyTrack): Look {
  const added = addedWork(change, track);
  const work = (added ?? []).flatMap(({ size, theme }) => [size, plainTheme(theme)]);
  return { change, added, names: [track.name, track.label, change.field, ...change.about, ...work] };
}

/** The violations of a change. @param after its track with all changes applied. */
export const violationsOf = (change: StrategyChange, after: StrategyTrack, envelope: CharterEnvelope): string[] =>
  forbidden(lookAt(change, after), envelope);

const forbidden = ({ change, names, added }: Look, { avoid }: CharterEnvelope): string[] =>
  added === null
    ? []
    : namedBy(avoid, names).map((entry) => `${change.track} ${change.field}: the charter avoids "${entry}"`);

const sizeTooLarge = (size: StrategyRisk['maxSize'], { max_auto_size }: CharterEnvelope): string[] =>
  isLarger(size, max_auto_size) ? [`it asks for ${size} work, above max_auto_size ${max_auto_size}`] : [];

function escalations({ change, names }: Look, escalateWhen: readonly string[]): string[] {
  const named = namedBy(escalateWhen, names).map(
    (entry) => `${change.track} ${change.field}: the charter escalates "${entry}"`,
  );
  return change.field === 'enabled' && change.to ? [...named, `it enables ${change.track}`] : named;
}

/** True for changes that may be applied without an operator. */
export const appliesByItself = ({ violations, needsApproval }: StrategyRisk): boolean =>
  violations.length === 0 && needsApproval.length === 0;
