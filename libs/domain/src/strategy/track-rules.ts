import { isDeepStrictEqual } from 'node:util';
import type { Slate } from '../tracks/track.ts';
import { type Concern, helpsWith } from './concerns.ts';
import type { StrategyInput, StrategyTrack } from './inputs.ts';
import type { StrategyChange, StrategyField, StrategyRule } from './snapshot.ts';
import { namedBy, nameKey, plainTheme, reportedTheme } from './words.ts';

/** The input of the rules, beside the track itself. */
export interface Situation {
  input: StrategyInput;
  concerns: readonly Concern[];
  /** The sign of overload of the repo. */
  strain: Concern | undefined;
}

/** The result of a rule for a field. */
export interface Step<T> {
  to: T;
  rule: StrategyRule;
  because: string;
  concerns: readonly Concern[];
}

/**
 * The value of a track's field without strategy. Goes back over the changes that led to its current value, as long as
 * each one begins where the previous one ended; a value that an operator set since is normal.
 * @param past changes that were applied, newest first.
 */
function normalOf<F extends StrategyField>(
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

const STEP = 1.5;
const PREFERRED_STEP = 2;
/** Strategy keeps weights between a quarter of normal and four times normal. */
const REACH = 4;

/** The proposed weight of an enabled track and its rule; null = unchanged. */
function weightStep(track: StrategyTrack, helping: readonly Concern[], situation: Situation): Step<number> | null {
  const { input, strain } = situation;
  const normal = normalOf(track, 'weight', input.past);
  const [preferred] = namedBy(input.charter.envelope.prefer, [track.name, track.label, ...themesOf(track)]);
  const limits = { least: Math.min(track.weight, normal / REACH), most: Math.max(track.weight, normal * REACH) };
  const [strongest] = helping;
  if (strongest) {
    const to = Math.min(limits.most, track.weight * (preferred === undefined ? STEP : PREFERRED_STEP));
    return step(track, to, { rule: strongest.rule, because: `it helps with ${listed(helping)}`, concerns: helping });
  }
  if (preferred !== undefined) {
    const to = Math.max(track.weight, normal * STEP);
    return step(track, to, { rule: 'charter-prefers', because: `the charter prefers "${preferred}"`, concerns: [] });
  }
  if (strain) {
    const to = Math.max(limits.least, track.weight / 2);
    const because = `it helps with nothing that is worse than before, while ${strain.about} is`;
    return step(track, to, { rule: 'under-strain', because, concerns: [strain] });
  }
  return step(track, normal, { rule: 'back-to-normal', because: 'what it was changed for is over', concerns: [] });
}

const themesOf = ({ proposal }: StrategyTrack): string[] => (proposal ?? []).map(({ theme }) => plainTheme(theme));

const listed = (concerns: readonly Concern[]): string => concerns.map(({ about }) => about).join(', ');

function step(track: StrategyTrack, to: number, why: Omit<Step<number>, 'to'>): Step<number> | null {
  const rounded = Math.round(to * 100) / 100;
  return rounded === Math.round(track.weight * 100) / 100 ? null : { to: rounded, ...why };
}

const MOST_ENTRIES = 10;
const LONGEST_THEME = 200;

/**
 * The proposed slate of an enabled track: the normal one, without what the charter avoids, with an entry for each
 * severe concern about findings that it matches. A track without a slate gets none.
 * @returns null = unchanged; an empty slate where the charter avoids all of it.
 */
function slateStep(track: StrategyTrack, helping: readonly Concern[], { input }: Situation): Step<Slate> | null {
  if (track.proposal === null) return null;
  const { avoid } = input.charter.envelope;
  const isAllowed = ({ size, theme }: Slate[number]) => namedBy(avoid, [size, plainTheme(theme)]).length === 0;
  const normal = normalOf(track, 'proposal', input.past) ?? [];
  const kept = normal.filter(isAllowed);
  const grave = helping.filter((concern) => isGrave(concern) && !hasTheme(kept, concern.about));
  const added = grave.filter((concern) => isAllowed(entryFor(concern))).slice(0, MOST_ENTRIES - kept.length);
  const to = [...kept, ...added.map(entryFor)];
  if (isDeepStrictEqual(to, track.proposal)) return null;
  if (kept.length < normal.length)
    return { to, rule: 'charter-avoids', because: `the charter avoids ${avoid.join(', ')}`, concerns: added };
  const because = added.map(({ about }) => about).join(', ');
  if (added.length > 0) return { to, rule: 'open-findings', because: `it helps with ${because}`, concerns: added };
  return { to, rule: 'back-to-normal', because: 'what it was changed for is over', concerns: [] };
}

const isGrave = ({ rule, size }: Concern): boolean => rule === 'open-findings' && size !== 'small';

const hasTheme = (slate: Slate, theme: string): boolean =>
  slate.some((entry) => nameKey(plainTheme(entry.theme)) === nameKey(theme));

const entryFor = ({ about, size }: Concern): Slate[number] => ({
  size,
  count: 1,
  theme: reportedTheme(about, LONGEST_THEME),
});

/** All proposed changes of a track. */
export function changesOf(track: StrategyTrack, situation: Situation): StrategyChange[] {
  const { avoid } = situation.input.charter.envelope;
  const helping = situation.concerns.filter(
    (concern) => helpsWith(track, concern) && namedBy(avoid, concern.names).length === 0,
  );
  const [avoided] = namedBy(avoid, [track.name, track.label]);
  if (avoided !== undefined) return track.enabled ? [disabled(track, avoided, situation)] : [];
  if (!track.enabled) return helping[0] ? [enabled(track, helping)] : [];
  const slate = slateStep(track, helping, situation);
  if (slate?.to.length === 0) return [disabled(track, 'all of its slate', situation)];
  const weight = weightStep(track, helping, situation);
  return [...(slate ? [change(track, 'proposal', slate)] : []), ...(weight ? [change(track, 'weight', weight)] : [])];
}

const enabled = (track: StrategyTrack, helping: readonly Concern[]): StrategyChange => {
  const about = helping.map((concern) => concern.about).join(', ');
  const rule = helping[0]?.rule ?? 'open-findings';
  return change(track, 'enabled', { to: true, rule, because: `it would help with ${about}`, concerns: helping });
};

const disabled = (track: StrategyTrack, what: string, { input }: Situation): StrategyChange => {
  const made = change(track, 'enabled', {
    to: false,
    rule: 'charter-avoids',
    because: `the charter avoids ${what === track.name ? 'it' : `"${what}"`}`,
    concerns: [],
  });
  return { ...made, evidence: [`charter:${input.charter.version}`] };
};

const change = (track: StrategyTrack, field: StrategyField, step: Step<unknown>): StrategyChange =>
  ({
    track: track.name,
    field,
    from: track[field],
    to: step.to,
    rule: step.rule,
    reason: `${track.name}: ${step.because}`,
    evidence: step.concerns.map(({ evidence }) => evidence.ref),
    about: step.concerns.flatMap(({ names }) => names),
  }) as StrategyChange;
