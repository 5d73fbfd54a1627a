import { isDeepStrictEqual } from 'node:util';
import type { Slate } from '../tracks/slate.ts';
import type { Concern } from './concerns.ts';
import type { StrategyTrack } from './inputs.ts';
import { normalOf } from './normal.ts';
import { plainTheme, reportedTheme } from './reported-theme.ts';
import type { Situation, Step } from './situation.ts';
import { namedBy, nameKey } from './words.ts';

const MOST_ENTRIES = 10;
const LONGEST_THEME = 200;

/**
 * The proposed slate of an enabled track: the normal one, without what the charter avoids, with an entry for each
 * severe concern about findings that it matches. A track without a slate gets none.
 * @returns null = unchanged; an empty slate where the charter avoids all of it.
 */
export function slateStep(track: StrategyTrack, helping: readonly Concern[], { input }: Situation): Step<Slate> | null {
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
