import { describe, expect, test } from '@jest/globals';
import { METRIC_REGISTRY, METRIC_UNITS } from '@pipeline/domain';

describe('registry', () => {
  test('holds each definition once', () => {
    const ids = METRIC_REGISTRY.map(({ id }) => id);
    expect(ids).toEqual([...new Set(ids)]);
  });

  test('each metric has a label, unit, window and source', () => {
    for (const { id, label, unit, window: time, formula, source } of METRIC_REGISTRY) {
      expect(id).toMatch(/^[a-z][a-z0-9_]*$/);
      for (const text of [label, time, formula, source]) expect(text.trim()).not.toBe('');
      if (unit !== null) expect(METRIC_UNITS).toContain(unit);
    }
  });

  test('contains the definitions of the contract', () => {
    const labels = METRIC_REGISTRY.map(({ label }) => label);
    for (const label of [
      'Open Issues',
      'In-flight',
      'In Progress',
      'Blocked',
      'Awaiting Review',
      'Throughput',
      'Cycle Time',
      'Success Rate',
      'Review Pass Rate',
      'Time to First PR',
      'Avg Review Cycles',
      'PR Revert Rate',
      'Agent Attribution',
      'Autonomous Merge Rate',
      'Cost today',
      'Cost',
      'DLQ depth',
      'Pending tasks',
      'Avg queue wait',
      'Oldest pending age',
      'Est. duration',
      'Projected drain',
      'Write queue',
      'Worker count',
      'SI Tracks',
      'Cadence',
      'Plan Drift Rate',
      'Outcome Distribution',
      'Block Rate',
      'Failure-Blocked Rate',
      'Mean Cost / Issue',
      'Mean Turns / Issue',
      'Reimplement Loop Rate',
      'Dead Letter Rate',
      'Completed',
      'Recovered',
      'Cycle p50',
      'Cycle p90',
      'Dead letters',
      'Fleet degraded time',
      'Model Spend Share',
      'Max-Turns Rate',
      'No-Progress Rate',
      'max_auto_size',
      'Snapshot lifecycle',
      'Automatic weekly proposals',
      'SLA breach',
      'stale_blocked',
      'stale_subtask_edge',
      'orphan_missing_from_pg',
      'si_linkage_gap',
      'label_drift',
      'orphan_dependency_edge',
    ])
      expect(labels).toContain(label);
  });
});
