import type { Kpi } from '../analytics/kpis.ts';
import type { SlateSize } from '../tracks/track.ts';
import type { KpiReading, OpenFindings, StrategyTrack } from './inputs.ts';
import type { StrategyEvidence } from './snapshot.ts';
import { plainTheme, wordsOf } from './words.ts';

/** A problem that tracks may help with. */
export interface Concern {
  rule: 'regressed-kpi' | 'open-findings';
  /** The KPI or the category. */
  about: string;
  /** All names by which a charter may refer to it. */
  names: string[];
  /** A track matches when its name, label or themes contain one of these. */
  words: Set<string>;
  strength: number;
  /** The size of the work for it. */
  size: SlateSize;
  evidence: StrategyEvidence;
}

/** Name parts of tracks that help when the KPI regresses. */
const KPI_HELP: Readonly<Record<string, string>> = {
  block_rate: 'dependency planning requirement specification clarity',
  failure_blocked_rate: 'reliability stability test ci build flaky',
  mean_cost_usd: 'cost efficiency context documentation doc',
  mean_turns: 'efficiency context documentation doc tooling',
  reimplement_loop_rate: 'requirement planning specification test quality review',
  dead_letter_rate: 'reliability stability workflow',
  cycle_time_p50: 'speed performance ci build review',
  autonomy_rate: 'test quality review documentation doc',
} satisfies Record<Kpi, string>;

const MAGNITUDE_STRENGTH: Readonly<Record<string, number>> = { low: 1, medium: 2, high: 3, large: 4 };

const regression = ({ kpi, value, baseline, magnitude }: KpiReading): Concern => ({
  rule: 'regressed-kpi',
  about: kpi,
  names: [kpi],
  words: wordsOf(KPI_HELP[kpi] ?? kpi),
  strength: MAGNITUDE_STRENGTH[magnitude] ?? 1,
  size: 'small',
  evidence: {
    kind: 'kpi',
    ref: `kpi:${kpi}`,
    summary: `${kpi} is ${shown(value)}, was ${shown(baseline)}: a ${magnitude} regression`,
  },
});

const shown = (value: number | null): string => (value === null ? 'unknown' : String(Number(value.toPrecision(3))));

/** Name parts of tracks that help with a type of findings, beside the words of the type itself. */
const TYPE_HELP: Readonly<Record<string, string>> = {
  ci_failure: 'test build',
  deterministic_check_failure: 'test lint quality',
  pre_existing_check_failure: 'test lint quality',
  integration_gap: 'test',
  integration_issue: 'test',
  requirements_gap: 'planning specification',
  review_finding: 'quality',
  protected_path_violation: 'security',
  semantic_conflict: 'merge architecture',
};

const SEVERITY_STRENGTH = { info: 0, low: 0.25, medium: 0.5, high: 1, critical: 3 } as const;
const SEVERITY_SIZE = { info: 'small', low: 'small', medium: 'small', high: 'medium', critical: 'large' } as const;
const ENOUGH = 1;
const MOST = 6;

function findingsAbout(category: string, groups: readonly OpenFindings[]): Concern {
  const worst = groups.reduce((a, b) => (SEVERITY_STRENGTH[b.severity] > SEVERITY_STRENGTH[a.severity] ? b : a));
  const types = [...new Set(groups.map(({ findingType }) => findingType))];
  const count = groups.reduce((sum, group) => sum + group.count, 0);
  const strength = groups.reduce((sum, group) => sum + SEVERITY_STRENGTH[group.severity] * group.count, 0);
  return {
    rule: 'open-findings',
    about: category,
    names: [category, ...types, ...new Set(groups.map(({ severity }) => severity))],
    words: wordsOf(category, ...types, ...types.map((type) => TYPE_HELP[type] ?? '')),
    strength: Math.min(MOST, strength),
    size: SEVERITY_SIZE[worst.severity],
    evidence: {
      kind: 'finding',
      ref: `finding:${worst.exampleId}`,
      summary: `${count === 1 ? '1 open finding' : `${count} open findings`} about ${category}, the worst ${worst.severity}, such as "${worst.exampleTitle}"`,
    },
  };
}

/** The current concerns, strongest first. Findings are combined by category, once their weight is high enough. */
export function concernsOf(kpis: readonly KpiReading[], findings: readonly OpenFindings[]): Concern[] {
  const byCategory = Map.groupBy(findings, ({ category, findingType }) => category || findingType);
  const concerns = [
    ...kpis.filter(({ regressed }) => regressed).map(regression),
    ...[...byCategory].map(([category, groups]) => findingsAbout(category, groups)),
  ];
  return concerns
    .filter(({ strength }) => strength >= ENOUGH)
    .sort((a, b) => b.strength - a.strength || (a.about < b.about ? -1 : 1));
}

/** True for a track that matches the concern. */
export function helpsWith({ name, label, proposal }: StrategyTrack, { words }: Concern): boolean {
  const themes = (proposal ?? []).map(({ theme }) => plainTheme(theme));
  return !wordsOf(name, label, ...themes).isDisjointFrom(words);
}

const STRAINING: readonly string[] = [
  'block_rate',
  'failure_blocked_rate',
  'dead_letter_rate',
  'mean_cost_usd',
] satisfies Kpi[];

/** The strongest sign of overload of the repo, if there is one. */
export const strainOf = (concerns: readonly Concern[]): Concern | undefined =>
  concerns.find(({ about, strength }) => STRAINING.includes(about) && strength >= (MAGNITUDE_STRENGTH.high ?? 0));
