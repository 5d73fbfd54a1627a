import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { isBlockedState, STATES, type State } from '../states.ts';
import { type Decision, decide } from './decide.ts';
import type { IssueFacts } from './facts.ts';
import { OUTCOMES_OF, type Outcome } from './outcomes.ts';
import { DEFAULT_WORKFLOW, TRIGGERS, taskTypeOf, validTargets } from './workflow.ts';

const issue = (state: State, over: Partial<IssueFacts> = {}): IssueFacts => ({
  number: 7,
  state,
  blockedFromState: null,
  blockReason: null,
  pr: null,
  dismissStale: true,
  openBlockers: 0,
  planStatus: null,
  defaultBranch: 'main',
  ...over,
});
const PR = {
  number: 12,
  headSha: 'abc1234',
  headRef: 'svc/issue-7',
  approval: { sha: 'abc1234', source: 'agent' as const },
};

/** One valid result per outcome. */
const OUTCOMES: Record<string, Outcome> = {
  analyzed: { outcome: 'analyzed', result: {} },
  'not-planned': { outcome: 'not-planned', result: { reason: 'no' } },
  planned: { outcome: 'planned', result: { plan: 'p', plannedFiles: [] } },
  split: { outcome: 'split', result: { subtasks: [{ title: 'a', body: 'b', labels: [] }] } },
  depends: { outcome: 'depends', result: { on: ['#1'] } },
  'needs-clarification': { outcome: 'needs-clarification', result: { question: '?' } },
  submitted: {
    outcome: 'submitted',
    result: { branch: 'svc/issue-7', headSha: 'abc1234', title: 't', body: '', changedFiles: [] },
  },
  replan: { outcome: 'replan', result: { reason: 'r' } },
  approved: { outcome: 'approved', result: { body: '' } },
  'changes-requested': { outcome: 'changes-requested', result: { body: 'b', comments: [] } },
  'needs-human': { outcome: 'needs-human', result: { reason: 'r' } },
  mergeable: { outcome: 'mergeable', result: { headSha: 'abc1234' } },
  conflict: { outcome: 'conflict', result: { files: [] } },
  'not-ready': { outcome: 'not-ready', result: { reason: 'r' } },
};
const outcome = (name: string): Outcome => {
  const found = OUTCOMES[name];
  if (!found) throw new Error(name);
  return found;
};
const after = (facts: IssueFacts, name: string): Decision => {
  const cause = { trigger: outcome(name).outcome, outcome: outcome(name), headSha: 'abc1234' };
  const decision = decide(DEFAULT_WORKFLOW, facts, cause);
  if (decision.kind === 'refused') throw new Error(decision.reason);
  return decision;
};

describe('outcomes of agents', () => {
  test.each([
    ['analyzing', 'analyzed', 'planning'],
    ['analyzing', 'split', 'waiting-for-subtasks'],
    ['analyzing', 'needs-clarification', 'needs-clarification'],
    ['analyzing', 'depends', 'dependency-blocked'],
    ['analyzing', 'not-planned', 'done'],
    ['planning', 'planned', 'ready-for-dev'],
    ['planning', 'split', 'waiting-for-subtasks'],
    ['ready-for-dev', 'submitted', 'in-review'],
    ['ready-for-dev', 'replan', 'planning'],
    ['changes-requested', 'submitted', 'in-review'],
    ['changes-requested', 'depends', 'dependency-blocked'],
    ['in-review', 'approved', 'merge-pending'],
    ['in-review', 'changes-requested', 'changes-requested'],
    ['in-review', 'needs-human', 'human-review-ready'],
    ['merge-pending', 'conflict', 'changes-requested'],
    ['merge-pending', 'not-ready', 'in-review'],
  ] as const)('%s: %s leads to %s', (from, name, to) => {
    expect(after(issue(from, { pr: PR }), name).to).toBe(to);
  });

  test('every outcome that a task may report has an edge from every state that runs the task', () => {
    for (const { name: state, taskType } of DEFAULT_WORKFLOW.states) {
      for (const name of taskType ? OUTCOMES_OF[taskType] : []) {
        expect([state, name, after(issue(state, { pr: PR }), name).kind]).not.toContain('refused');
      }
    }
  });

  test('a submission without a pull request opens one, and its review waits for it', () => {
    const decision = after(issue('ready-for-dev'), 'submitted');
    expect(decision.nextTask).toBeNull();
    expect(decision.projections).toMatchObject([
      { type: 'createPR', head: 'svc/issue-7', base: 'main', body: 'Refs #7' },
    ]);
    expect(after(issue('ready-for-dev', { pr: PR }), 'submitted')).toMatchObject({
      nextTask: 'review',
      projections: [],
    });
  });

  test('a pull request closes no issue at its merge when its title or body names one with a closing word', () => {
    const result = {
      branch: 'svc/issue-7',
      headSha: 'abc1234',
      changedFiles: [],
      title: 'Fixes #12',
      body: 'Closes a/b#3',
    };
    const submitted: Outcome = { outcome: 'submitted', result };
    const decision = decide(DEFAULT_WORKFLOW, issue('ready-for-dev'), { trigger: 'submitted', outcome: submitted });
    expect(decision).toMatchObject({ projections: [{ title: 'Refs #12', body: 'Refs a/b#3\n\nRefs #7' }] });
  });

  test('mergeable requests a merge: the issue stays until the host has answered', () => {
    const decision = after(issue('merge-pending', { pr: PR }), 'mergeable');
    expect(decision).toMatchObject({ kind: 'stay', to: 'merge-pending', nextTask: null });
    expect(decision.projections).toMatchObject([{ type: 'mergePR', prNumber: 12, expectedHeadSha: 'abc1234' }]);
  });

  test('a finding that blocks progress redirects an approval to a person', () => {
    expect(after(issue('in-review', { pr: PR, openBlockers: 1 }), 'approved').to).toBe('human-review-ready');
  });

  test('a finding that blocks progress prevents every merge', () => {
    const decision = after(issue('merge-pending', { pr: PR, openBlockers: 1 }), 'mergeable');
    expect(decision).toMatchObject({ kind: 'move', to: 'human-review-ready', projections: [] });
  });

  test('an outcome without an edge is refused and names what is missing', () => {
    const decision = decide(DEFAULT_WORKFLOW, issue('planning'), { trigger: 'approved', outcome: outcome('approved') });
    expect(decision).toEqual({
      kind: 'refused',
      targetState: 'approved',
      reason: 'no edge leaves planning on approved',
    });
  });
});

describe('stops and the way back', () => {
  test('a failure stores its origin, and unblocking returns to it', () => {
    const stop = decide(DEFAULT_WORKFLOW, issue('in-review', { pr: PR }), {
      trigger: 'exhausted',
      blockReason: 'ci_failure',
    });
    expect(stop).toMatchObject({
      to: 'failure-blocked',
      isBlocked: true,
      blockReason: 'ci_failure',
      blockedFromState: 'in-review',
      nextTask: null,
    });
    const back = decide(DEFAULT_WORKFLOW, issue('failure-blocked', { blockedFromState: 'in-review', pr: PR }), {
      trigger: 'unblocked',
    });
    expect(back).toMatchObject({ to: 'in-review', isBlocked: false, blockedFromState: null, nextTask: 'review' });
  });

  test.each(['analyzing', 'planning', 'ready-for-dev', 'changes-requested'] as const)(
    'an answered question leads back to %s, where it was asked',
    (origin) => {
      const facts = issue('needs-clarification', { blockedFromState: origin });
      expect(decide(DEFAULT_WORKFLOW, facts, { trigger: 'clarified' })).toMatchObject({ to: origin });
    },
  );

  test('the issue is planned again without an edge back', () => {
    const facts = issue('dependency-blocked', { blockedFromState: 'changes-requested' });
    expect(decide(DEFAULT_WORKFLOW, facts, { trigger: 'unblocked' })).toMatchObject({ to: 'planning' });
  });

  test('the outcome of a retry in failure-blocked is decided from the state that failed', () => {
    expect(after(issue('failure-blocked', { blockedFromState: 'planning' }), 'planned')).toMatchObject({
      from: 'failure-blocked',
      to: 'ready-for-dev',
      isBlocked: false,
    });
  });

  test('a retry that fails again changes neither state nor origin', () => {
    const facts = issue('failure-blocked', { blockedFromState: 'planning' });
    expect(decide(DEFAULT_WORKFLOW, facts, { trigger: 'exhausted', blockReason: 'x' })).toMatchObject({
      kind: 'stay',
      blockedFromState: 'planning',
    });
  });
});

describe('facts of the host and people', () => {
  test.each(STATES.filter((state) => state !== 'done'))('a merge on the host ends an issue in %s', (state) => {
    expect(decide(DEFAULT_WORKFLOW, issue(state), { trigger: 'host-merged' })).toMatchObject({ to: 'done' });
  });

  test('an operator may use any outgoing edge and no other; the refusal lists them', () => {
    for (const from of STATES) {
      for (const target of STATES) {
        const decision = decide(DEFAULT_WORKFLOW, issue(from), { trigger: 'operator', target });
        const valid = validTargets(DEFAULT_WORKFLOW, from);
        expect(decision.kind === 'refused').toBe(!valid.includes(target));
        if (decision.kind === 'refused') expect(decision.reason).toContain(valid.join(', '));
      }
    }
  });
});

test('flags and next task follow the state for any decision', () => {
  const facts = fc.record({
    state: fc.constantFrom(...STATES),
    blockedFromState: fc.option(fc.constantFrom(...STATES)),
    pr: fc.option(fc.constant(PR)),
    openBlockers: fc.nat(2),
  });
  const cause = fc.record({ trigger: fc.constantFrom(...TRIGGERS), target: fc.constantFrom(...STATES) });
  fc.assert(
    fc.property(facts, cause, ({ state, ...over }, { trigger, target }) => {
      const named = OUTCOMES[trigger];
      const decision = decide(DEFAULT_WORKFLOW, issue(state, over), {
        trigger,
        target,
        ...(named && { outcome: named }),
      });
      if (decision.kind === 'refused') return;
      expect(decision.isBlocked).toBe(isBlockedState(decision.to));
      expect([null, taskTypeOf(DEFAULT_WORKFLOW, decision.to)]).toContain(decision.nextTask);
      expect(decision.kind).toBe(decision.to === state ? 'stay' : 'move');
      if (decision.to !== 'failure-blocked') expect(decision.blockReason === null || decision.isBlocked).toBe(true);
    }),
  );
});
