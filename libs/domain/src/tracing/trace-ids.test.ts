import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { spanIdOfCall, spanIdOfRun, traceIdOfIssue, traceIdOfTask } from './trace-ids.ts';

const id = fc.integer({ min: 1, max: 2 ** 40 });
const at = fc.date({ min: new Date('2020-01-01'), max: new Date('2100-01-01'), noInvalidDate: true });

describe('ids of traces and spans', () => {
  test('each id has the form that W3C Trace Context demands, whatever its parts', () => {
    fc.assert(
      fc.property(fc.uuid(), id, id, at, (taskId, tenantId, runId, date) => {
        const issue = { tenantId, issueId: runId, createdAt: date.toISOString() };
        for (const trace of [traceIdOfIssue(issue), traceIdOfTask(taskId)]) expect(trace).toMatch(/^[0-9a-f]{32}$/);
        for (const span of [spanIdOfRun(taskId, runId), spanIdOfCall(taskId, runId, 7)])
          expect(span).toMatch(/^[0-9a-f]{16}$/);
      }),
    );
  });

  test('the ids are the same for a time with microseconds and the same time in milliseconds', () => {
    const ofIssue = { tenantId: 1, issueId: 2 };
    expect(traceIdOfIssue({ ...ofIssue, createdAt: '2026-01-02T03:04:05.678901Z' })).toBe(
      traceIdOfIssue({ ...ofIssue, createdAt: '2026-01-02T03:04:05.678Z' }),
    );
  });

  test('differ between tenants, issues, deployments, tasks, runs and calls', () => {
    const issue = { tenantId: 1, issueId: 23, createdAt: '2026-01-02T03:04:05.678Z' };
    const traces = [
      traceIdOfIssue(issue),
      traceIdOfIssue({ ...issue, tenantId: 12, issueId: 3 }),
      traceIdOfIssue({ ...issue, issueId: 24 }),
      traceIdOfIssue({ ...issue, createdAt: '2026-01-02T03:04:05.679Z' }),
      traceIdOfTask('a'),
      traceIdOfTask('b'),
    ];
    expect(new Set(traces).size).toBe(traces.length);
    const spans = [
      spanIdOfRun('a', 1),
      spanIdOfRun('a', 2),
      spanIdOfRun('b', 1),
      spanIdOfCall('a', 1, 0),
      spanIdOfCall('a', 1, 1),
    ];
    expect(new Set(spans).size).toBe(spans.length);
  });
});
