import { ratio } from '../figures.ts';
import type { Metric } from './definition.ts';
import type { History, RetrospectiveFact } from './history.ts';
import { inPeriod } from './issue-facts.ts';

const retrospectives = { group: 'Retrospectives', window: 'as requested' } as const;

/** Comparison of touched and planned files; null where either is unknown. */
function planDriftOf({
  plannedFiles,
  actualFiles,
}: Pick<RetrospectiveFact, 'plannedFiles' | 'actualFiles'>): 'as-planned' | 'touched-more' | 'touched-fewer' | null {
  if (plannedFiles === null || actualFiles === null) return null;
  if (actualFiles.some((file) => !plannedFiles.includes(file))) return 'touched-more';
  return plannedFiles.every((file) => actualFiles.includes(file)) ? 'as-planned' : 'touched-fewer';
}

const inWindow = ({ retrospectives: all }: History, period: { from: number; now: number }) =>
  all.filter(({ at }) => inPeriod(period, at));

export const RETROSPECTIVE_METRICS: readonly Metric[] = [
  {
    ...retrospectives,
    id: 'plan_drift_rate',
    label: 'Plan Drift Rate',
    unit: 'ratio',
    formula:
      '(touchedMore + touchedFewer) / retrospectives with file data; more = changed a file that was not planned, fewer = changed only some of the planned files',
    source: 'GET /api/pipeline/retrospectives, planDriftRatio',
    compute(history, period) {
      const known = inWindow(history, period).flatMap((each) => planDriftOf(each) ?? []);
      return ratio(known.filter((drift) => drift !== 'as-planned').length, known.length);
    },
  },
  {
    ...retrospectives,
    id: 'outcome_distribution',
    label: 'Outcome Distribution',
    unit: 'count',
    formula: 'retrospectives grouped by outcome classification',
    source: 'GET /api/pipeline/retrospectives, byOutcome',
    compute(history, period) {
      const classified = inWindow(history, period).flatMap(({ outcome }) => outcome ?? []);
      const groups = Map.groupBy(classified, (outcome) => outcome);
      return Object.fromEntries([...groups].map(([outcome, each]) => [outcome, each.length]));
    },
  },
];
