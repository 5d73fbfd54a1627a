import { describe, expect, test } from '@jest/globals';
import { checkWorkflow } from './check.ts';
import { decide } from './decide.ts';
import { planStatusAfter, requiresPlanApproval, restartState, withPlanApproval } from './plan-approval.ts';
import { DEFAULT_WORKFLOW } from './workflow.ts';

const required = withPlanApproval(DEFAULT_WORKFLOW, 'required');

describe('plan approval in a workflow', () => {
  test('passes the check when it is switched on and off', () => {
    expect(checkWorkflow(required)).toMatchObject({ errors: [], warnings: [] });
    expect([requiresPlanApproval(DEFAULT_WORKFLOW), requiresPlanApproval(required)]).toEqual([false, true]);
    expect(withPlanApproval(required, 'off')).toEqual(DEFAULT_WORKFLOW);
    expect(withPlanApproval(required, 'required')).toEqual(required);
  });

  test('reports the missing edges when planned leads to a person and nothing leads back', () => {
    const edges = required.edges.filter(({ trigger }) => trigger !== 'plan-rejected');
    expect(checkWorkflow({ ...required, edges }).errors).toEqual([
      'an edge from human-review-ready to planning on plan-rejected is missing: planned leads to human-review-ready',
    ]);
  });

  test('reports an edge when an approval would lead to another state', () => {
    const edges = required.edges.map((edge) =>
      edge.trigger === 'plan-approved' ? { ...edge, to: 'merge-pending' as const } : edge,
    );
    expect(checkWorkflow({ ...required, edges }).errors).toContain(
      'edge human-review-ready -> merge-pending (plan-approved): plan-approved must lead from human-review-ready to ready-for-dev',
    );
  });
});

test('keeps a plan pending when its issue stops, and withdraws it when the issue moves elsewhere', () => {
  expect(planStatusAfter('failure-blocked', 'pr-closed')).toBe('pending');
  expect(planStatusAfter('ready-for-dev', 'operator')).toBe('approved');
  expect(planStatusAfter('planning', 'plan-rejected')).toBe('rejected');
  expect(planStatusAfter('done', 'cancelled')).toBe('withdrawn');
});

test('starts over at development only when no person has to approve a plan first', () => {
  expect([null, 'approved', 'rejected', 'pending'].map((status) => restartState(status as never))).toEqual([
    ...['ready-for-dev', 'ready-for-dev', 'planning', 'human-review-ready'],
  ]);
});

test('moves an approved issue to development when plan approval was switched off meanwhile', () => {
  const facts = {
    number: 7,
    state: 'human-review-ready',
    blockedFromState: null,
    blockReason: null,
    pr: null,
  } as const;
  const rest = { dismissStale: true, openBlockers: 0, planStatus: 'pending', defaultBranch: 'main' } as const;
  const decision = decide(DEFAULT_WORKFLOW, { ...facts, ...rest }, { trigger: 'plan-approved' });
  expect(decision).toMatchObject({ kind: 'move', to: 'ready-for-dev', nextTask: 'develop' });
});
