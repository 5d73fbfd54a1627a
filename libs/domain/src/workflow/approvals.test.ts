import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { STATES, type State } from '../states.ts';
import { type Decision, decide } from './decide.ts';
import type { Cause, IssueFacts, PullRequestFacts } from './facts.ts';
import { DEFAULT_WORKFLOW, TRIGGERS } from './workflow.ts';

const OLD = 'abc1234';
const HEAD = 'def5678';
const issue = (state: State, pr: Partial<PullRequestFacts> | null, dismissStale = true): IssueFacts => ({
  number: 7,
  state,
  blockedFromState: null,
  blockReason: null,
  pr: pr && { number: 12, headSha: HEAD, headRef: 'b', approval: null, ...pr },
  dismissStale,
  openBlockers: 0,
  planStatus: null,
  defaultBranch: 'main',
});
const after = (facts: IssueFacts, cause: Cause) => decide(DEFAULT_WORKFLOW, facts, cause);
const approved = (headSha: string | null): Cause => ({
  trigger: 'approved',
  outcome: { outcome: 'approved', result: { body: '' } },
  headSha,
});
const mergeable = (headSha: string): Cause => ({
  trigger: 'mergeable',
  outcome: { outcome: 'mergeable', result: { headSha } },
});

describe('an approval by an agent', () => {
  test('names the head in its status and is recorded for it', () => {
    const decision = after(issue('in-review', {}), approved(HEAD)) as Decision;
    expect(decision).toMatchObject({ to: 'merge-pending', approval: { sha: HEAD, source: 'agent' } });
    expect(decision.projections).toContainEqual(expect.objectContaining({ type: 'setCommitStatus', sha: HEAD }));
  });

  test.each([OLD, null])('an approval of %s leads to a new review when the head is another one', (headSha) => {
    const decision = after(issue('in-review', {}), approved(headSha));
    expect(decision).toMatchObject({
      kind: 'stay',
      to: 'in-review',
      nextTask: 'review',
      projections: [],
      approval: null,
    });
  });
});

describe('a merge', () => {
  const by = (sha: string, source: 'agent' | 'person' = 'agent') => ({ approval: { sha, source } });

  test('names the approved commit in full when the worker abbreviates it', () => {
    const head = HEAD.repeat(6).slice(0, 40);
    const facts = issue('merge-pending', { headSha: head, ...by(head) });
    expect(after(facts, mergeable(HEAD))).toMatchObject({ projections: [{ expectedHeadSha: head }] });
  });

  test.each([
    ['nothing was approved', {}, HEAD],
    ['the approval was for an earlier head', by(OLD), HEAD],
    ['the worker names an earlier head', by(OLD), OLD],
    ['the worker names a head that is not known yet', by(HEAD), OLD],
    ['an earlier head was approved by a person', by(OLD, 'person'), HEAD],
  ])('leads back to review when %s', (_why, pr, headSha) => {
    const decision = after(issue('merge-pending', pr), mergeable(headSha));
    expect(decision).toMatchObject({ to: 'in-review', nextTask: 'review', projections: [] });
  });

  test("names the last known head when a person's approval outlives pushes", () => {
    const decision = after(issue('merge-pending', by(OLD, 'person'), false), mergeable(HEAD));
    expect(decision).toMatchObject({ kind: 'stay', projections: [{ expectedHeadSha: HEAD }] });
  });

  test.each(STATES.filter((state) => state !== 'merge-pending'))(
    'refuses a merge while the issue is in %s',
    (state) => {
      expect(after(issue(state, by(HEAD)), mergeable(HEAD))).toMatchObject({ kind: 'refused' });
    },
  );
});

test('a merge always names the head and needs an approval of it', () => {
  const sha = fc.constantFrom(OLD, HEAD);
  const approval = fc.option(fc.record({ sha, source: fc.constantFrom('agent' as const, 'person' as const) }));
  const cause = fc.oneof(
    sha.map(mergeable),
    sha.map(approved),
    fc.constantFrom(...TRIGGERS).map((trigger) => ({ trigger })),
  );
  const facts = fc.record({ state: fc.constantFrom(...STATES), approval, dismissStale: fc.boolean() });
  fc.assert(
    fc.property(facts, cause, ({ state, approval: given, dismissStale }, happened) => {
      const decision = after(issue(state, { approval: given }, dismissStale), happened);
      const writes = decision.kind === 'refused' ? [] : decision.projections;
      const holds = given?.sha === HEAD || (given?.source === 'person' && !dismissStale);
      for (const write of writes) {
        if (write.type === 'mergePR') expect([write.expectedHeadSha, holds]).toEqual([HEAD, true]);
        if (write.type === 'setCommitStatus') expect([write.sha, write.prNumber]).toEqual([HEAD, 12]);
      }
    }),
  );
});
