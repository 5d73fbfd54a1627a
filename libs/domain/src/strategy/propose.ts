import { type Concern, concernsOf, helpsWith, strainOf } from './concerns.ts';
import type { StrategyInput } from './inputs.ts';
import { assessRisk, slateOf, tracksAfter, violationsOf } from './risk.ts';
import type { SlateLine, StrategyChange, StrategyEvidence, StrategyRisk } from './snapshot.ts';
import { changesOf, type Situation } from './track-rules.ts';
import { namedBy } from './words.ts';

interface Account {
  changes: readonly StrategyChange[];
  risk: StrategyRisk;
  /** Number of changes deferred to another week. */
  further: number;
  unhelped: readonly Concern[];
}

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

/** One-line summary of a snapshot. */
function intentOf(changes: readonly StrategyChange[]): string {
  const parts = [
    phrase('More work on', changes.filter(isMore)),
    phrase('less on', changes.filter(isLess)),
    phrase(
      'another slate for',
      changes.filter(({ field }) => field === 'proposal'),
    ),
  ].filter((part) => part !== '');
  const text = parts.join('; ');
  return text === '' ? 'Leave the tracks as they are.' : `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

const isMore = ({ field, from, to }: StrategyChange): boolean => field !== 'proposal' && Number(to) > Number(from);
const isLess = ({ field, from, to }: StrategyChange): boolean => field !== 'proposal' && Number(to) < Number(from);

const phrase = (start: string, changes: readonly StrategyChange[]): string =>
  changes.length === 0 ? '' : `${start} ${changes.map(({ track }) => track).join(', ')}`;

/** The rationale of a snapshot: a line for each change, then unmatched concerns and the reasons for approval. */
function explain({ changes, risk, further, unhelped }: Account): string {
  return [
    ...changes.map(
      (change) => `${change.reason} (${change.rule}): ${change.field} ${shown(change.from)} -> ${shown(change.to)}`,
    ),
    ...unhelped.map(({ evidence }) => `No track is about this: ${evidence.summary}`),
    ...(further > 0 ? [`${further} further changes are left for another week.`] : []),
    ...risk.needsApproval.map((why) => `Waits for an operator: ${why}`),
  ].join('\n');
}

const shown = (value: StrategyChange['from']): string => {
  if (value === null) return 'none';
  if (!Array.isArray(value)) return String(value);
  return value
    .map(({ size, count, theme }) => `${count} ${size}${theme === undefined ? '' : ` (${theme})`}`)
    .join(' + ');
};
