import { describe, expect, test } from '@jest/globals';
import { METRIC_REGISTRY, METRIC_UNITS, METRICS, type MetricValue } from '@pipeline/domain';
import fc from 'fast-check';
import { history, NOW, window } from './generated-history.ts';
import { NAIVE } from './naive/index.ts';

/** Tolerance for floating-point sums. */
function expectSame(actual: MetricValue, naive: MetricValue): void {
  if (actual !== null && naive !== null && typeof actual === 'object' && typeof naive === 'object') {
    expect(Object.keys(actual).sort()).toEqual(Object.keys(naive).sort());
    for (const [key, value] of Object.entries(naive)) expectSame(actual[key] ?? null, value);
  } else if (typeof actual === 'number' && typeof naive === 'number') {
    expect(Math.abs(actual - naive)).toBeLessThanOrEqual(1e-9 * Math.max(1, Math.abs(naive)));
  } else expect(actual).toEqual(naive);
}

const saysSomething = (value: MetricValue): boolean =>
  value !== null && (typeof value === 'number' ? value !== 0 : Object.values(value).some((each) => each > 0));

describe('every metric equals its reference computation over any history', () => {
  test.each(METRICS.map((metric) => [metric.id, metric] as const))('%s', (id, metric) => {
    const naive = NAIVE[id];
    if (!naive) throw new Error(`${id} has no naive recomputation`);
    let told = 0;
    fc.assert(
      fc.property(history, window, (facts, length) => {
        const period = { now: NOW, from: NOW - length };
        const value = metric.compute(facts, period);
        expectSame(value, naive(facts, period));
        if (saysSomething(value)) told += 1;
      }),
      { numRuns: 250 },
    );
    // Ensures that the generated histories contain events; otherwise any property would hold.
    expect(told).toBeGreaterThan(0);
  });
});

describe('registry', () => {
  test('holds each definition once', () => {
    const ids = METRIC_REGISTRY.map(({ id }) => id);
    expect(ids).toEqual([...new Set(ids)]);
    expect(Object.keys(NAIVE).sort()).toEqual(METRICS.map(({ id }) => id).sort());
  });

  test('has label, unit, window and source of each', () => {
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
