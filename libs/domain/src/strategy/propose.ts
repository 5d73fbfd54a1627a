import { type Concern, concernsOf, helpsWith, strainOf } from './concerns.ts';
import { explain, intentOf } from './explain.ts';
import type { StrategyInput } from './inputs.ts';
import { assessRisk, slateOf, tracksAfter, violationsOf } from './risk.ts';
import type { SlateLine, StrategyChange, StrategyEvidence, StrategyRisk } from './snapshot.ts';
import { changesOf, type Situation } from './track-rules.ts';
import { namedBy } from './words.ts';

/** A strategy proposal before a decision. */
export interface Proposal {
  intent: string;
  rationale: string;
  /** Empty = no changes. */
  changes: StrategyChange[];
  slate: SlateLine[];
  risk: StrategyRisk;
  evidence: StrategyEvidence[];
}

/** Maximum number of changes, small enough for a person to review. */
const MOST_CHANGES = 10;

/**
 * Makes the weekly proposal by rules alone: the same input gives the same proposal. Each change names its rule and its
 * evidence, and none increases what the charter avoids.
 */
export function proposeStrategy(input: StrategyInput): Proposal {
  const concerns = concernsOf(input.kpis, input.findings);
  const situation: Situation = { input, concerns, strain: strainOf(concerns) };
  const found = withinCharter(
    input.tracks.flatMap((track) => changesOf(track, situation)),
    input,
  ).sort(byImportance(concerns));
  const changes = found.slice(0, MOST_CHANGES);
  const risk = assessRisk(changes, input.tracks, input.charter.envelope);
  return {
    intent: intentOf(changes),
    rationale: explain({ changes, risk, further: found.length - changes.length, unhelped: unhelped(situation) }),
    changes,
    slate: slateOf(tracksAfter(input.tracks, changes)),
    risk,
    evidence: evidenceOf(changes, situation),
  };
}

/** First changes required by the charter, then by weight of their concern, then returns to normal. */
const byImportance = (concerns: readonly Concern[]) => (a: StrategyChange, b: StrategyChange) =>
  rank(a) - rank(b) || strength(concerns, b) - strength(concerns, a) || (a.track < b.track ? -1 : 1);

const RANKS = [['charter-avoids'], ['regressed-kpi', 'open-findings'], ['charter-prefers', 'under-strain']];

const rank = ({ rule }: StrategyChange): number => {
  const at = RANKS.findIndex((rules) => rules.includes(rule));
  return at === -1 ? RANKS.length : at;
};

const strength = (concerns: readonly Concern[], { evidence }: StrategyChange): number =>
  concerns.filter((concern) => evidence.includes(concern.evidence.ref)).reduce((sum, each) => sum + each.strength, 0);

/** Omits changes that increase what the charter avoids. */
function withinCharter(changes: readonly StrategyChange[], { tracks, charter }: StrategyInput): StrategyChange[] {
  const after = new Map(tracksAfter(tracks, changes).map((track) => [track.name, track]));
  return changes.filter((each) => {
    const track = after.get(each.track);
    return track && violationsOf(each, track, charter.envelope).length === 0;
  });
}

/** Concerns without a matching track. */
function unhelped({ concerns, input }: Situation): Concern[] {
  const { avoid } = input.charter.envelope;
  const usable = input.tracks.filter(({ name, label }) => namedBy(avoid, [name, label]).length === 0);
  return concerns.filter((concern) => !usable.some((track) => helpsWith(track, concern)));
}

function evidenceOf(changes: readonly StrategyChange[], { concerns, input }: Situation): StrategyEvidence[] {
  const refs = new Set(changes.flatMap(({ evidence }) => evidence));
  const charter: StrategyEvidence = {
    kind: 'charter',
    ref: `charter:${input.charter.version}`,
    summary: `version ${input.charter.version} of the charter`,
  };
  return [...concerns.map(({ evidence }) => evidence), charter].filter(({ ref }) => refs.has(ref));
}
