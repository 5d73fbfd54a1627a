import type { Concern } from './concerns.ts';
import type { StrategyTrack } from './inputs.ts';
import { normalOf } from './normal.ts';
import { plainTheme } from './reported-theme.ts';
import type { Situation, Step } from './situation.ts';
import { namedBy } from './words.ts';

const STEP = 1.5;
const PREFERRED_STEP = 2;
/** Strategy keeps weights between a quarter of normal and four times normal. */
const REACH = 4;

/** The proposed weight of an enabled track and its rule; null = unchanged. */
export function weightStep(
  track: StrategyTrack,
  helping: readonly Concern[],
  situation: Situation,
): Step<number> | null {
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
