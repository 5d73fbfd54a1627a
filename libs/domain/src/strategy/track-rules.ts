import { type Concern, helpsWith } from './concerns.ts';
import type { StrategyTrack } from './inputs.ts';
import type { Situation, Step } from './situation.ts';
import { slateStep } from './slate-rules.ts';
import type { StrategyChange, StrategyField } from './snapshot.ts';
import { weightStep } from './weight-rules.ts';
import { namedBy } from './words.ts';

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
