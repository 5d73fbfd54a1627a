import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { batchesOf, bulkPlan } from '../src/actions/bulk-actions.ts';
import { groupsOf } from '../src/pages/blocked/groups.ts';
import { apart } from '../src/pages/issue/apart.ts';
import { idleShare, joined, scaleOf, staysOf } from '../src/pages/issue/timeline-scale.ts';
import { spanField, timeAt, zoomedScale } from '../src/pages/issue/zoom.ts';
import { phraseOf } from '../src/pages/issues/phrase.ts';
import { inLanes } from '../src/pages/writes/in-lanes.ts';
import { writeWords } from '../src/pages/writes/write-words.ts';

const at = (minute: number): string => new Date(minute * 60_000).toISOString();

const timeline = {
  serverTimestamp: at(100),
  stateTransitions: [
    { to: 'new', at: at(0) },
    { to: 'planning', at: at(10) },
    { to: 'in-review', at: at(90) },
  ],
  entries: [
    { kind: 'agent-run', id: '1', title: 'plan', status: 'ok', costUsd: 1, timestamp: at(10), durationMs: 5 * 60_000 },
    { kind: 'agent-run', id: '2', title: 'review', status: null, costUsd: null, timestamp: at(95), durationMs: null },
    { kind: 'event', id: '3', title: 'x', status: null, costUsd: null, timestamp: at(20), durationMs: null },
  ],
} as never;

describe('the timeline', () => {
  test('ends the last stay now, unless the issue is done', () => {
    expect(staysOf(timeline).map(({ state, from, to }) => [state, from / 60_000, to / 60_000])).toEqual([
      ['new', 0, 10],
      ['planning', 10, 90],
      ['in-review', 90, 100],
    ]);
    const done = { serverTimestamp: at(9), stateTransitions: [{ to: 'done', at: at(1) }] } as never;
    expect(staysOf(done)).toEqual([]);
  });

  test('the timeline is idle while no agent runs; a run without an end still runs', () => {
    expect(idleShare(timeline)).toBeCloseTo(0.9);
  });

  test('keeps the order of time when idle gaps are collapsed, and gives runs more room', () => {
    const [plain, collapsed] = [scaleOf(timeline, false), scaleOf(timeline, true)];
    const minutes = [0, 5, 10, 15, 50, 95, 100].map((minute) => minute * 60_000);
    for (const scale of [plain, collapsed]) {
      const places = minutes.map(scale);
      expect(places).toEqual(places.toSorted((a, b) => a - b));
      expect([places[0], places.at(-1)]).toEqual([0, 1]);
    }
    const run = (scale: (time: number) => number): number => scale(15 * 60_000) - scale(10 * 60_000);
    expect(run(plain)).toBeCloseTo(0.05);
    expect(run(collapsed)).toBeGreaterThan(0.4);
  });

  test('fills the width with a part when it is zoomed, and finds the time of a place', () => {
    const whole = { from: 0, to: 100 * 60_000 };
    for (const isCollapsed of [false, true]) {
      const part = { from: 10 * 60_000, to: 90 * 60_000 };
      const scale = zoomedScale(scaleOf(timeline, isCollapsed), part);
      expect([scale(0), scale(part.from), scale(part.to), scale(whole.to)]).toEqual([0, 0, 1, 1]);
      expect(timeAt(scale, part, scale(12 * 60_000))).toBeCloseTo(12 * 60_000, 0);
    }
    expect(spanField.parse(spanField.format({ from: 1, to: 9 }))).toEqual({ from: 1, to: 9 });
    expect(['', '9-1', '1-x', '-1-5'].map((text) => spanField.parse(text))).toEqual(Array(4).fill(undefined));
  });

  test('draws marks once where they cannot be distinguished, and none outside of the lane', () => {
    const marks = Array.from({ length: 5_000 }, (_, index) => ({ from: index / 5_000, to: index / 5_000 }));
    expect(apart(marks, (mark) => mark)).toHaveLength(500);
    const long = { from: 0.1, to: 0.3 };
    expect(apart([long, long, { from: -2, to: -1 }, { from: 1.1, to: 2 }], (mark) => mark)).toEqual([long, long]);
  });

  test('joins overlapping spans', () => {
    expect(
      joined([
        { from: 5, to: 9 },
        { from: 0, to: 6 },
        { from: 20, to: 21 },
      ]),
    ).toEqual([
      { from: 0, to: 9 },
      { from: 20, to: 21 },
    ]);
  });
});

describe('host writes', () => {
  const write = (id: number, status: string, issueNumber = 7) => ({
    id,
    status,
    issueNumber,
    repoOwner: 'acme',
    repoName: 'shop',
    action: { type: 'reopenIssue' },
  });

  test('behind a failed one of the same issue are held back', () => {
    const writes = [write(4, 'pending'), write(3, 'pending', 8), write(2, 'failed'), write(1, 'complete')] as never;
    expect(inLanes(writes).map(({ id, place }) => [id, place])).toEqual([
      [1, null],
      [2, 'head'],
      [4, 'follower'],
      [3, null],
    ]);
  });

  test('describes host writes in words', () => {
    expect(writeWords({ type: 'swapLabels', add: ['svc:done'], remove: ['svc:new', 'x'] } as never)).toBe(
      'add the labels svc:done and remove svc:new, x',
    );
    expect(writeWords({ type: 'setCommitStatus' } as never)).toBe('set commit status');
    expect(writeWords({ type: 'postComment', body: 'first\nsecond' } as never)).toBe('comment: first');
  });
});

test('blocked issues are grouped by reason and error, the largest group first', () => {
  const issue = (issueNumber: number, blockReason: string | null, errorPattern: string | null) => ({
    owner: 'acme',
    repo: 'shop',
    issueNumber,
    blockReason,
    errorPattern,
    blockedSince: at(issueNumber),
    lastError: errorPattern,
  });
  const groups = groupsOf([issue(1, 'quota', null), issue(2, 'ci', 'x <n>'), issue(3, 'ci', 'x <n>')] as never);
  expect(groups.map(({ reason, issues, first, last }) => [reason, issues.length, first, last])).toEqual([
    ['ci', 2, at(2), at(3)],
    ['quota', 1, at(1), at(1)],
  ]);
});

test('a bulk action is split by repo and tenant into calls of at most 100 issues', () => {
  const issues = Array.from({ length: 201 }, (_, index) => ({ repo: 'a/b', issueNumber: index + 1 }));
  const batches = batchesOf([...issues, { repo: 'a/b', tenant: 't', issueNumber: 1 }]);
  expect(batches.map(({ tenant, numbers }) => [tenant, numbers.length])).toEqual([
    [undefined, 100],
    [undefined, 100],
    [undefined, 1],
    ['t', 1],
  ]);
});

describe('a bulk action on 2,503 issues', () => {
  const issues = Array.from({ length: 2_503 }, (_, index) => ({ repo: 'a/b', issueNumber: index + 1 }));
  const refused = (issueNumber: number) => issueNumber % 1_000 === 7;

  /** Answers as the monitor does. @param onCall gets the number of the call. @param brokenCall is answered by 503. */
  function answerCalls(onCall: (call: number) => void, brokenCall?: number): void {
    let calls = 0;
    jest.spyOn(globalThis, 'fetch').mockImplementation(async (_, init) => {
      calls += 1;
      onCall(calls);
      if (calls === brokenCall)
        return Response.json({ error: 'Pipeline store not available', code: 'STORE_UNAVAILABLE' }, { status: 503 });
      const { filter } = JSON.parse(String(init?.body)) as { filter: { issueNumbers: number[] } };
      const numbers = filter.issueNumbers;
      const failed = numbers
        .filter(refused)
        .map((issueNumber) => ({ repo: 'a/b', issueNumber, code: 'STORE_TIMEOUT' }));
      return Response.json({ succeeded: numbers.length - failed.length, skipped: 0, failed, next: null });
    });
  }
  const onDone = jest.fn<() => void>();
  const run = (only: typeof issues, signal: AbortSignal, onProgress: (done: number) => void = () => undefined) =>
    bulkPlan('pause', only, onDone).run({ reason: undefined, choice: undefined, onProgress, signal });
  beforeEach(() => {
    onDone.mockClear();
  });

  test('counts all of them and names those that failed', async () => {
    answerCalls(() => undefined);
    const progress: number[] = [];
    expect(await run(issues, new AbortController().signal, (done) => progress.push(done))).toEqual({
      text: '2500 changed, 3 failed (a/b#7 STORE_TIMEOUT, a/b#1007 STORE_TIMEOUT, a/b#2007 STORE_TIMEOUT)',
      hasFailed: true,
    });
    expect(progress).toHaveLength(26);
    expect(progress.at(-1)).toBe(2_503);
  });

  test('reports how many are left when it is stopped, and does them when it is repeated', async () => {
    const stopping = new AbortController();
    answerCalls((call) => call === 10 && stopping.abort());
    expect(await run(issues, stopping.signal)).toEqual({
      text: '999 changed, 1 failed (a/b#7 STORE_TIMEOUT), stopped before the other 1503',
      hasFailed: true,
    });
    expect(await run(issues.slice(1_000), new AbortController().signal)).toEqual({
      text: '1501 changed, 2 failed (a/b#1007 STORE_TIMEOUT, a/b#2007 STORE_TIMEOUT)',
      hasFailed: true,
    });
  });

  test('reports what was done before a refused call, and keeps the selection for the rest', async () => {
    answerCalls(() => undefined, 5);
    expect(await run(issues.slice(0, 500), new AbortController().signal)).toEqual({
      text: '399 changed, 1 failed (a/b#7 STORE_TIMEOUT), the other 100 may be unchanged: Pipeline store not available',
      hasFailed: true,
    });
    expect(onDone).not.toHaveBeenCalled();
    answerCalls(() => undefined, 1);
    await expect(run(issues, new AbortController().signal)).rejects.toThrow('Pipeline store not available');
  });
});

test('the phrase of an issue names its obstacle before the words of its agent', () => {
  const facts = {
    blockReason: null,
    blockClassification: null,
    isPaused: false,
    currentStatus: 'reading',
    dependsOn: [],
    state: 'planning' as const,
  };
  expect(phraseOf(facts)).toBe('reading');
  expect(phraseOf({ ...facts, blockReason: 'merge_conflict', blockClassification: 'permanent' })).toBe(
    'merge conflict (permanent)',
  );
  expect(phraseOf({ ...facts, state: 'dependency-blocked', dependsOn: [3, 4] })).toBe('waits for #3, #4');
  expect(phraseOf({ ...facts, isPaused: true, blockReason: 'x' })).toBe('paused by an operator');
});
