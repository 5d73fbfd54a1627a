import { describe, expect, test } from '@jest/globals';
import { OUTCOME_NAMES } from '@pipeline/domain';
import { CompleteReport, completeTask, errorsOf, failTask, hostedSurface } from '../src/index.ts';

const claimToken = '0198c5a4-7c1e-7000-8000-000000000001';

describe('the report of a finished task', () => {
  test('knows every outcome of the domain and no other', () => {
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

  test.each([completeTask, failTask])('of $id may be answered with 409 and 410', (route) => {
    const codes = errorsOf(hostedSurface, route).map(({ code, status }) => `${status} ${code}`);
    expect(codes).toEqual(
      expect.arrayContaining(['409 CLAIM_LOST', '410 TASK_CANCELLED', '404 NOT_FOUND', '401 AUTH_FAILED']),
    );
  });
});
