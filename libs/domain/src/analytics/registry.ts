import { AGENT_METRICS } from './agent-metrics.ts';
import { HEALTH_METRICS } from './health-metrics.ts';
import { ISSUE_METRICS } from './issue-metrics.ts';
import type { MetricDefinition } from './metric-definition.ts';
import { OPERATION_METRICS } from './operation-metrics.ts';
import { QUALITY_METRICS } from './quality-metrics.ts';

const strategy = { group: 'Strategy', unit: null, window: '-' } as const;

const STRATEGY_TERMS: readonly MetricDefinition[] = [
  {
    ...strategy,
    id: 'max_auto_size',
    label: 'max_auto_size',
    formula: 'the largest size (small, medium, large, epic) that is applied without operator approval',
    source: 'GET /api/strategy/{owner}/{repo}/charter, charter.envelope.max_auto_size',
  },
  {
    ...strategy,
    id: 'snapshot_lifecycle',
    label: 'Snapshot lifecycle',
    formula: 'proposed, approved, active, superseded',
    source: 'GET /api/strategy/{owner}/{repo}/snapshots, items[].status',
  },
  {
    ...strategy,
    id: 'weekly_proposals',
    label: 'Automatic weekly proposals',
    formula: 'when enabled, one proposal is queued per ISO week for repos with an active charter',
    source: 'GET /api/strategy/{owner}/{repo}/automation',
  },
];

/** Every figure and term of the dashboard, once (interface: Dashboard metric definitions). */
export const METRIC_REGISTRY: readonly MetricDefinition[] = [
  ...ISSUE_METRICS,
  ...OPERATION_METRICS,
  ...QUALITY_METRICS,
  ...AGENT_METRICS,
  ...STRATEGY_TERMS,
  ...HEALTH_METRICS,
];
