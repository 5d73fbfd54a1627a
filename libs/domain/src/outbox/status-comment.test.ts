import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { BLOCK_REASONS } from '../blocks.ts';
import { ERROR_CLASSES } from '../error-classes.ts';
import { STATES } from '../states.ts';
import { HOLDS } from '../task-types.ts';
import { type StatusCommentInput, statusComment } from './status-comment.ts';

const input = (over: Partial<StatusCommentInput> = {}): StatusCommentInput => ({
  repo: 'acme/shop',
  issueNumber: 7,
  state: 'ready-for-dev',
  stateEnteredAt: '2026-01-02T03:04:05.678Z',
  isPaused: false,
  isBlocked: false,
  blockReason: null,
  blockClassification: null,
  blockedFromState: null,
  question: null,
  lastError: null,
  prNumber: null,
  dependsOn: [],
  subtasks: [],
  attempt: 0,
  maxAttempts: 3,
  autoUnblock: { count: 0, max: 3, nextAt: null },
  ...over,
});
const comment = (over: Partial<StatusCommentInput> = {}) => statusComment(input(over));
const failed = (over: Partial<StatusCommentInput> = {}) =>
  comment({
    state: 'failure-blocked',
    isBlocked: true,
    blockReason: 'build_failure',
    blockedFromState: 'ready-for-dev',
    ...over,
  });

describe('the status comment', () => {
  test('shows the state of the issue', () => {
    expect(comment()).toBe(
      [
        '**Waiting for an agent to make the change** · since 2026-01-02 03:04 UTC',
        '✓ Queued → ✓ Analysis → ✓ Plan → **Development** → Review → Merge → Done',
        '<sub>Commands for people with write access, as a comment: `/svc:pause` `/svc:retry` `/svc:reimplement` `/svc:cancel`</sub>',
      ].join('\n\n'),
    );
  });

  test('links the pull request, and is short when all is done', () => {
    expect(comment({ state: 'done', prNumber: 9 })).toBe(
      '**Done** · since 2026-01-02 03:04 UTC\n\n✓ Queued → ✓ Analysis → ✓ Plan → ✓ Development → ✓ Review → ✓ Merge → ✓ Done\n\nPull request: #9',
    );
  });

  test('shows what happened, where, and the remedy after a failure', () => {
    const text = failed({ lastError: 'error TS2322 in `a.ts`' });
    expect(text).toContain(`${BLOCK_REASONS.build_failure.sentence} It occurred in the step Development.`);
    expect(text).toContain('```text\nerror TS2322 in `a.ts`\n```');
    expect(text).toContain(`**Remedy:** ${BLOCK_REASONS.build_failure.remedy}`);
    expect(text).toContain('**Development** →');
    expect(text).toContain('`/svc:unblock`');
  });

  test('shows when a block is lifted automatically, and when it no longer is', () => {
    const transient = { blockReason: 'agent_timeout', blockClassification: 'transient' } as const;
    const next = { count: 1, max: 3, nextAt: '2026-01-02T03:19:00.000Z' };
    expect(failed({ ...transient, autoUnblock: next })).toContain('automatically at 2026-01-02 03:19 UTC (2 of 3)');
    expect(failed({ ...transient, autoUnblock: { count: 3, max: 3, nextAt: null } })).toContain(
      '3 times; now a person has to act',
    );
    expect(failed({ blockClassification: 'permanent' })).not.toContain('automatically');
  });

  test('quotes the question and names who may answer it', () => {
    const text = comment({
      state: 'needs-clarification',
      question: 'Which one?\n\n1. `a`\n2. `b`',
      blockedFromState: 'planning',
    });
    expect(text).toContain('> Which one?\n>\n> 1. `a`\n> 2. `b`');
    expect(text).toContain('Answer in a comment below.');
  });

  test('names what it waits for, short in its own repo', () => {
    const text = comment({
      state: 'dependency-blocked',
      repo: 'Acme/shop',
      dependsOn: ['acme/Shop#3', 'acme/other#4', '#5'],
    });
    expect(text).toContain('- #3\n- acme/other#4\n- #5');
    expect(
      comment({
        state: 'waiting-for-subtasks',
        subtasks: [
          { ref: '#8', done: true },
          { ref: '#9', done: false },
        ],
      }),
    ).toContain('- [x] #8\n- [ ] #9');
  });

  test('limits the length of lists', () => {
    const text = comment({
      state: 'dependency-blocked',
      dependsOn: Array.from({ length: 60 }, (_, index) => `#${index}`),
    });
    expect(text).toContain('- #49\n- and 10 more\n');
  });

  test('requests a review when one is needed', () => {
    expect(comment({ state: 'human-review-ready', prNumber: 9 })).toContain('Review #9:');
  });

  test('shows a pause and how to end it, and a used-up budget or limit', () => {
    expect(comment({ isPaused: true })).toMatch(/^\*\*Paused\*\*[\s\S]*`\/svc:resume`/);
    expect(comment({ isPaused: true })).not.toContain('/svc:pause');
    expect(comment({ hold: 'budget' })).toContain(BLOCK_REASONS.budget_exceeded.remedy);
    expect(comment({ hold: 'budget', usedUp: 'issue' })).toContain('An operator raises the budget per issue');
    expect(comment({ hold: 'budget', usedUp: 'day' })).toContain('automatically at midnight UTC');
    expect(comment({ hold: 'quota' })).toContain(BLOCK_REASONS.quota_exceeded.remedy);
    expect(comment({ hold: 'backoff' })).toBe(comment());
  });

  test('shows that an attempt failed and the next one is due', () => {
    const text = comment({ attempt: 1, lastError: 'fetch failed' });
    expect(text).toContain('Attempt 2 of 3. The previous attempt failed:\n\n```text\nfetch failed\n```');
    expect(comment({ lastError: 'fetch failed' })).toBe(comment());
  });
});

const foul = fc.constantFrom(
  '@octocat',
  '<!-- svc:status -->',
  '\n\n# Done',
  '```',
  '\r',
  '&#64;all',
  '![a](b)',
  'word ',
  '-->',
);
const foulText = fc.array(foul, { maxLength: 30 }).map((pieces) => pieces.join(''));
const anyInput = fc.record({
  repo: fc.constant('acme/shop'),
  issueNumber: fc.constant(7),
  state: fc.constantFrom(...STATES),
  stateEnteredAt: fc.constantFrom(null, '2026-01-02T03:04:05.678Z'),
  isPaused: fc.boolean(),
  isBlocked: fc.boolean(),
  blockReason: fc.option(fc.oneof(fc.constantFrom(...Object.keys(BLOCK_REASONS)), foulText)),
  blockClassification: fc.option(fc.constantFrom(...ERROR_CLASSES)),
  blockedFromState: fc.option(fc.constantFrom(...STATES)),
  hold: fc.option(fc.constantFrom(...HOLDS)),
  question: fc.option(foulText),
  lastError: fc.option(foulText),
  prNumber: fc.option(fc.constant(9)),
  dependsOn: fc.array(foulText, { maxLength: 60 }),
  subtasks: fc.array(fc.record({ ref: foulText, done: fc.boolean() }), { maxLength: 60 }),
  attempt: fc.nat(3),
  maxAttempts: fc.constant(3),
  autoUnblock: fc.record({
    count: fc.nat(4),
    max: fc.constant(3),
    nextAt: fc.constantFrom(null, '2026-01-02T03:04:05.678Z'),
  }),
  textChange: fc.option(fc.record({ by: fc.option(foulText) })),
});

describe('a text that was changed after it was enqueued', () => {
  test('reports who changed the text, and how the change is accepted', () => {
    const text = comment({ textChange: { by: 'alice' } });
    expect(text).toContain('**The text was changed since it was enqueued** by alice. Agents');
    expect(text).toContain('adds the label `svc:enqueue` again, or an operator, accepts the new text');
    expect(comment({ textChange: null })).not.toContain('changed since');
  });
});

describe('the status comment with any text of people and agents', () => {
  test('mentions no user and contains none of their markers and headings', () => {
    fc.assert(
      fc.property(anyInput, (given) => {
        const text = statusComment(given);
        expect(text).not.toMatch(/@[\w-]|<!--|!\[|&[#A-Za-z]/);
        const outsideFences = text.replace(/^(`{3,})text\n[\s\S]*?\n\1$/gm, '');
        expect(outsideFences).not.toMatch(/^# /m);
      }),
    );
  });

  test('fits the host, and is the same text for the same issue', () => {
    fc.assert(
      fc.property(anyInput, (given) => {
        const text = statusComment(given);
        expect(text.length).toBeLessThan(60_000);
        expect(statusComment(structuredClone(given))).toBe(text);
      }),
    );
    const long = { question: '@a'.repeat(50_000), lastError: '<b'.repeat(50_000) };
    expect(comment({ ...long, state: 'needs-clarification' }).length).toBeLessThan(20_000);
    expect(failed(long).length).toBeLessThan(20_000);
  });
});
