import { describe, expect, test } from '@jest/globals';
import { MAX_CALL_TOKENS, MAX_INTEGER, OUTCOME_NAMES } from '@pipeline/domain';
import { CompleteReport, completeTask, errorsOf, failTask, hostedSurface, reportProgress } from '../../src/index.ts';
import { invocations } from '../../src/queue/report.ts';

const claimToken = '0198c5a4-7c1e-7000-8000-000000000001';

describe('the report of a finished task', () => {
  test('accepts every outcome of the domain and no other', () => {
    const outcomes = CompleteReport.options.map((option) => option.shape.outcome.value);
    expect(outcomes.sort()).toEqual([...OUTCOME_NAMES].sort());
    expect(CompleteReport.safeParse({ claimToken, outcome: 'mergable', result: {} }).success).toBe(false);
  });

  test('carries what its own outcome carries', () => {
    const result = { branch: 'svc/issue-1', headSha: 'abcdef1', title: 't', body: '', changedFiles: [] };
    expect(CompleteReport.parse({ claimToken, outcome: 'submitted', result })).toEqual({
      claimToken,
      outcome: 'submitted',
      result,
      artefacts: [],
      findings: [],
      intelligence: [],
      invocations: [],
    });
    expect(CompleteReport.safeParse({ claimToken, outcome: 'planned', result }).success).toBe(false);
  });

  describe('evidence of a finding', () => {
    const finding = { findingType: 'risk', category: 'c', severity: 'low', title: 't', summary: 's' };
    const parse = (evidence: unknown) =>
      CompleteReport.safeParse({
        claimToken,
        outcome: 'analyzed',
        result: {},
        findings: [{ ...finding, evidence: [evidence] }],
      });

    test.each([
      [{ foo: 1 }, 'kind'],
      [{ kind: '' }, 'kind'],
      [{ kind: 7 }, 'kind'],
      [{ kind: 'file', path: 7 }, 'path'],
      [{ kind: 'file', lineStart: '3' }, 'lineStart'],
      [{ kind: 'file', lineEnd: -1 }, 'lineEnd'],
    ])('refuses evidence that is %j', (evidence, field) => {
      const { error } = parse(evidence);
      expect(error?.issues.map(({ path }) => path.at(-1))).toEqual([field]);
    });

    test('stores evidence without the fields that are null, with those of its own', () => {
      const given = { kind: 'file', path: 'a.ts', lineStart: 3, lineEnd: null, ref: null, column: 4 };
      expect(parse(given).data?.findings[0]?.evidence).toEqual([
        { kind: 'file', path: 'a.ts', lineStart: 3, column: 4 },
      ]);
    });
  });

  test.each([reportProgress, completeTask, failTask])(
    'a report of $id may hold as many calls as are declared',
    (route) => {
      const call = {
        index: MAX_INTEGER,
        model: '模'.repeat(200),
        provider: '供'.repeat(100),
        turns: MAX_INTEGER,
        inputTokens: MAX_CALL_TOKENS,
        outputTokens: MAX_CALL_TOKENS,
        cacheReadTokens: MAX_CALL_TOKENS,
        cacheWriteTokens: MAX_CALL_TOKENS,
        costUsd: 99_999.123_456_789_01,
        stopReason: 'completed' as const,
      };
      const calls = invocations.parse(Array.from({ length: 1_000 }, () => call));
      expect(Buffer.byteLength(JSON.stringify({ claimToken, invocations: calls }))).toBeLessThan(route.bodyLimit / 2);
    },
  );

  test.each([completeTask, failTask])('a report of $id may be answered with 409 and 410', (route) => {
    const codes = errorsOf(hostedSurface, route).map(({ code, status }) => `${status} ${code}`);
    expect(codes).toEqual(
      expect.arrayContaining(['409 CLAIM_LOST', '410 TASK_CANCELLED', '404 NOT_FOUND', '401 AUTH_FAILED']),
    );
  });
});
