import type { Kpi } from './kpis.ts';
import type { MetricDefinition } from './metric-definition.ts';

const retrospectives = { group: 'Retrospectives', window: 'as requested' } as const;

const RETROSPECTIVE_METRICS: readonly MetricDefinition[] = [
  {
    ...retrospectives,
    id: 'plan_drift_rate',
    label: 'Plan Drift Rate',
    unit: 'ratio',
    formula:
      '(touchedMore + touchedFewer) / retrospectives with file data; more = changed a file that was not planned, fewer = changed only some of the planned files',
    source: 'GET /api/pipeline/retrospectives, planDriftRatio',
  },
  {
    ...retrospectives,
    id: 'outcome_distribution',
    label: 'Outcome Distribution',
    unit: 'count',
    formula: 'retrospectives grouped by outcome classification',
    source: 'GET /api/pipeline/retrospectives, byOutcome',
  },
];

const KPI_DEFINITIONS: readonly (Pick<MetricDefinition, 'label' | 'unit' | 'formula'> & { id: Kpi })[] = [
  {
    id: 'block_rate',
    label: 'Block Rate',
    unit: 'ratio',
    formula: 'issues that entered dependency-blocked or needs-clarification / active issues; regresses when it rises',
  },
  {
    id: 'failure_blocked_rate',
    label: 'Failure-Blocked Rate',
    unit: 'ratio',
    formula: 'issues that entered failure-blocked / active issues; regresses when it rises',
  },
  {
    id: 'mean_cost_usd',
    label: 'Mean Cost / Issue',
    unit: 'usd',
    formula: 'spending in the window / issues with spending; regresses when it rises',
  },
  {
    id: 'mean_turns',
    label: 'Mean Turns / Issue',
    unit: 'count',
    formula: 'agent turns of runs claimed in the window / issues of those runs; regresses when it rises',
  },
  {
    id: 'reimplement_loop_rate',
    label: 'Reimplement Loop Rate',
    unit: 'ratio',
    formula:
      'issues that were re-implemented (by /svc:reimplement, after a merge conflict, or after a new plan once there was a pull request) / active issues; regresses when it rises',
  },
  {
    id: 'dead_letter_rate',
    label: 'Dead Letter Rate',
    unit: 'ratio',
    formula: 'issues that reached done and have had a dead letter / issues that reached done; regresses when it rises',
  },
  {
    id: 'cycle_time_p50',
    label: 'Cycle Time p50',
    unit: 'seconds',
    formula: 'median from the first transition to done; regresses when it rises',
  },
  {
    id: 'autonomy_rate',
    label: 'Autonomy Rate',
    unit: 'percent',
    formula: 'autonomous issues / merged issues, as in Autonomous Merge Rate; regresses when it falls',
  },
];

const REGRESSION_METRICS: readonly MetricDefinition[] = KPI_DEFINITIONS.map((definition) => ({
  ...definition,
  group: 'Regression guard',
  window: '7 d against the mean of the 4 weeks before',
  source: `GET /api/regression-guard, kpi ${definition.id}`,
}));

const weekly = { group: 'Weekly reliability', window: '7 d' } as const;
const weeklyRoute = (field: string) => `GET /api/pipeline/weekly-reliability, ${field}`;

const WEEKLY_OUTCOMES: readonly MetricDefinition[] = [
  {
    ...weekly,
    id: 'completed',
    label: 'Completed',
    unit: 'count',
    formula: 'issues that reached done; each counts once',
    source: weeklyRoute('completedCount'),
  },
  {
    ...weekly,
    id: 'recovered',
    label: 'Recovered',
    unit: 'count',
    formula: 'issues that passed through failure-blocked or dependency-blocked, at any time, and reached done',
    source: weeklyRoute('recoveredCount'),
  },
  {
    ...weekly,
    id: 'cycle_p50',
    label: 'Cycle p50',
    unit: 'seconds',
    formula: 'median from the first transition to done; null when nothing completed',
    source: weeklyRoute('cycleTime.p50Seconds'),
  },
  {
    ...weekly,
    id: 'cycle_p90',
    label: 'Cycle p90',
    unit: 'seconds',
    formula: '90th percentile from the first transition to done; null when nothing completed',
    source: weeklyRoute('cycleTime.p90Seconds'),
  },
];

const WEEKLY_TROUBLE: readonly MetricDefinition[] = [
  {
    ...weekly,
    id: 'dead_letters',
    label: 'Dead letters',
    unit: 'count',
    formula: 'recorded dead letters',
    source: weeklyRoute('deadLetters.count'),
  },
  {
    ...weekly,
    id: 'tasks_retried',
    label: 'Tasks retried',
    unit: 'count',
    formula: 'work-task rows with attempt_count > 0; attempts 0, 1, 2 of one task count as 2',
    source: weeklyRoute('retryBudget.tasksRetried'),
  },
  {
    ...weekly,
    id: 'total_retries_consumed',
    label: 'Retries consumed',
    unit: 'count',
    formula: 'sum of attempt_count, which is zero-based; attempts 0, 1, 2 of one task sum to 3',
    source: weeklyRoute('retryBudget.totalRetriesConsumed'),
  },
  {
    ...weekly,
    id: 'fleet_degraded_time',
    label: 'Fleet degraded time',
    unit: 'seconds',
    formula: 'time with at least one worker silent or stalled, fleet-wide; each period counts for at most one hour',
    source: weeklyRoute('degradedSeconds'),
  },
];

const perModel = { group: 'Per model', unit: 'percent', window: 'as requested' } as const;
const modelRoute = (field: string) => `GET /api/pipeline/cost-by-model, models[].${field}`;

const MODEL_METRICS: readonly MetricDefinition[] = [
  {
    ...perModel,
    id: 'model_spend_share',
    label: 'Model Spend Share',
    formula: 'spending on the model / spending on all models',
    source: modelRoute('sharePct'),
  },
  {
    ...perModel,
    id: 'max_turns_rate',
    label: 'Max-Turns Rate',
    formula: 'invocations that hit the turn limit / invocations',
    source: modelRoute('maxTurnsRate'),
  },
  {
    ...perModel,
    id: 'no_progress_rate',
    label: 'No-Progress Rate',
    formula: 'invocations without meaningful progress / invocations',
    source: modelRoute('noProgressRate'),
  },
];

/** Metrics of retrospectives, of the regression guard, of weekly reliability and by model. */
export const QUALITY_METRICS: readonly MetricDefinition[] = [
  ...RETROSPECTIVE_METRICS,
  ...REGRESSION_METRICS,
  ...WEEKLY_OUTCOMES,
  ...WEEKLY_TROUBLE,
  ...MODEL_METRICS,
];
