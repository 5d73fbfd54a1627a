import type { MetricDefinition } from './metric-definition.ts';

const findings = {
  group: 'Data consistency',
  unit: 'count',
  window: 'now',
  source: 'GET /api/consistency; GET /api/pipeline/consistency, byKind',
} as const;

const KINDS: MetricDefinition[] = [
  {
    ...findings,
    id: 'stale_blocked',
    label: 'stale_blocked',
    formula: 'is_blocked is true, the state is not done, and there is no active depends_on edge',
  },
  {
    ...findings,
    id: 'stale_subtask_edge',
    label: 'stale_subtask_edge',
    formula: 'an active subtask edge whose parent epic is done; one finding per epic',
  },
  {
    ...findings,
    id: 'orphan_missing_from_pg',
    label: 'orphan_missing_from_pg',
    formula: 'an open host issue without a pipeline record (optional detector: requires a host API call)',
  },
  {
    ...findings,
    id: 'si_linkage_gap',
    label: 'si_linkage_gap',
    formula: 'a self-improvement issue whose pipeline issue is done but whose completed_at is null',
  },
  {
    ...findings,
    id: 'label_drift',
    label: 'label_drift',
    formula:
      'state, is_blocked or is_paused disagrees with the stored labels; done issues, and those that the outbox has still to write, are left out',
  },
  {
    ...findings,
    id: 'orphan_dependency_edge',
    label: 'orphan_dependency_edge',
    formula:
      'an edge whose parent or child has no pipeline record; one finding for the issue that waits, the child of a dependency or the epic of a subtask',
  },
];

export const HEALTH_METRICS: readonly MetricDefinition[] = [
  {
    id: 'sla_breach',
    group: 'Service levels',
    label: 'SLA breach',
    unit: 'minutes',
    window: 'now',
    formula:
      'now - stateEnteredAt, of issues for which it is >= warn_after_minutes of their state; done and paused ones are left out',
    source: 'alerts of the detector sla_breach',
  },
  ...KINDS,
];
