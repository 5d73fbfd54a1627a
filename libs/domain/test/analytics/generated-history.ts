import {
  AGENT_OF,
  BLOCKED_LABEL,
  DAY_MS,
  type History,
  HOUR_MS,
  type IssueFact,
  PAUSED_LABEL,
  type PullRequestFact,
  STATES,
  type State,
  stateLabel,
  TASK_TYPES,
  TRIGGERS,
  type TransitionFact,
} from '@pipeline/domain';
import fc from 'fast-check';

/** Noon, so that today has begun. */
export const NOW = Date.parse('2026-06-17T12:00:00Z');

/** On a grid of six hours, so that facts coincide with each other and with window edges. */
const hoursAgo = (max: number) => fc.integer({ min: 0, max: max / 6 }).map((steps) => NOW - steps * 6 * HOUR_MS);
const at = hoursAgo(45 * 24);
const state = fc.constantFrom(...STATES);
const reachable = fc.oneof(state, fc.constantFrom<State>('done', 'changes-requested', 'failure-blocked', 'planning'));
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null });
const number = fc.integer({ min: 1, max: 9 });
const issueId = fc.integer({ min: 1, max: 6 });
const micros = fc.integer({ min: 0, max: 30_000_000 }).map((n) => n / 1_000_000);
const label = fc.constantFrom(
  'bug',
  'svc:enqueue',
  'svc:foreign',
  BLOCKED_LABEL,
  PAUSED_LABEL,
  ...STATES.flatMap((s) => stateLabel(s) ?? []),
);
const file = fc.constantFrom('a.ts', 'b.ts', 'c.ts');

interface Life {
  issue: IssueFact;
  moves: TransitionFact[];
}

/** An issue and its transitions, each from the state that the previous one led to. */
const life = (id: number): fc.Arbitrary<Life> =>
  fc
    .record({
      enteredAt: at,
      age: fc.integer({ min: 0, max: 20 }),
      steps: fc.array(fc.tuple(fc.integer({ min: 0, max: 30 }), reachable, fc.constantFrom(...TRIGGERS)), {
        maxLength: 7,
      }),
      isBlocked: fc.boolean(),
      isPaused: fc.boolean(),
      pausedAt: maybe(at),
      labels: fc.uniqueArray(label, { maxLength: 4 }),
    })
    .map(({ enteredAt, age, steps, ...rest }) => {
      const moves: TransitionFact[] = [];
      let from: State = 'new';
      let when = enteredAt;
      for (const [later, to, trigger] of steps) {
        when = Math.min(NOW, when + later * 6 * HOUR_MS);
        moves.push({ issueId: id, from, to, trigger, at: when });
        from = to;
      }
      const issue = { ...rest, id, number: id, state: from, enteredAt, stateEnteredAt: when };
      return { issue: { ...issue, createdAt: enteredAt - age * HOUR_MS }, moves };
    });

const pull: fc.Arbitrary<PullRequestFact> = fc
  .record({
    issueId: maybe(issueId),
    openedAt: at,
    took: maybe(fc.integer({ min: 0, max: 40 })),
    isReverted: fc.boolean(),
    agentAuthored: fc.boolean(),
  })
  .map(({ took, ...pr }) => {
    const mergedAt = took === null ? null : Math.min(NOW, pr.openedAt + took * 6 * HOUR_MS);
    return { ...pr, mergedAt, isReverted: mergedAt !== null && pr.isReverted };
  });

/** Few agents, so that some have enough samples for an estimate. */
const workedOn = fc.constantFrom(...TASK_TYPES.slice(0, 2));
const run = fc
  .record({
    repoId: fc.integer({ min: 1, max: 2 }),
    taskType: fc.oneof({ weight: 6, arbitrary: workedOn }, fc.constantFrom(...TASK_TYPES)),
    workId: fc.constantFrom('work 1', 'work 2', 'work 3'),
    attempt: fc.integer({ min: 0, max: 2 }),
    isCompleted: fc.boolean(),
    claimedAt: hoursAgo(10 * 24),
    took: maybe(fc.integer({ min: 0, max: 9 })),
  })
  .map(({ took, ...each }) => ({
    ...each,
    agent: AGENT_OF[each.taskType],
    finishedAt: took === null ? null : each.claimedAt + took * 1_001,
  }));

const model = fc.constantFrom('large', 'small');
const period = fc
  .record({
    kind: fc.constantFrom('online' as const, 'silent' as const, 'stalled' as const),
    from: at,
    minutes: maybe(fc.integer({ min: 0, max: 900 })),
  })
  .map(({ minutes, ...each }) => ({ ...each, to: minutes === null ? null : each.from + minutes * 60_000 }));

const isoTime = at.map((ms) => new Date(ms).toISOString());
const track = fc.record({
  cadence: fc.constantFrom({ kind: 'cooldown' as const }, { kind: 'cron' as const, expr: '0 3 * * 1' }),
  cooldown_minutes: fc.integer({ min: 1, max: 3_000 }),
  enabled: fc.boolean(),
  schedule_since: isoTime,
  last_run_at: maybe(isoTime),
  next_run_at: maybe(isoTime),
});

/** Arbitrary facts of a pipeline, including contradictory ones. */
export const history: fc.Arbitrary<History> = fc
  .record({
    lives: fc.tuple(...[1, 2, 3, 4, 5, 6].map(life)),
    pullRequests: fc.array(pull, { maxLength: 10 }),
    costs: fc.array(fc.record({ issueId: maybe(issueId), model, usd: micros, at }), { maxLength: 10 }),
    invocations: fc.array(
      fc.record({
        issueId: maybe(issueId),
        model,
        turns: fc.integer({ min: 0, max: 50 }),
        stopReason: fc.constantFrom(
          'completed' as const,
          'max_turns' as const,
          'no_progress' as const,
          'error' as const,
        ),
        at,
      }),
      { maxLength: 10 },
    ),
    runs: fc.array(run, { maxLength: 60, size: 'max' }),
    tasks: fc.array(
      fc.record({
        repoId: fc.integer({ min: 1, max: 2 }),
        agent: workedOn.map((type) => AGENT_OF[type]),
        status: fc.constantFrom('pending' as const, 'claimed' as const),
        createdAt: at,
      }),
      { maxLength: 6 },
    ),
    projections: fc.array(
      fc.record({
        issueNumber: number,
        status: fc.constantFrom('pending' as const, 'failed' as const, 'complete' as const, 'discarded' as const),
      }),
      { maxLength: 6 },
    ),
    deadLetters: fc.array(fc.record({ issueId, at, isResolved: fc.boolean() }), { maxLength: 5 }),
    workers: fc.array(
      fc.record({
        lastHeartbeatAt: maybe(fc.integer({ min: 0, max: 60 }).map((s) => NOW - s * 1_000)),
        hasLeft: fc.boolean(),
      }),
      { maxLength: 6 },
    ),
    workerPeriods: fc.array(period, { maxLength: 8 }),
    tracks: fc.array(track, { maxLength: 4 }),
    retrospectives: fc.array(
      fc.record({
        plannedFiles: maybe(fc.uniqueArray(file)),
        actualFiles: maybe(fc.uniqueArray(file)),
        outcome: maybe(fc.constantFrom('success', 'failure')),
        at,
      }),
      { maxLength: 8 },
    ),
    edges: fc.uniqueArray(
      fc.record({
        id: fc.nat(),
        kind: fc.constantFrom('depends_on' as const, 'subtask' as const),
        child: number,
        parent: number,
        isActive: fc.boolean(),
      }),
      { maxLength: 8, selector: ({ id }) => id },
    ),
    siIssues: fc.uniqueArray(fc.record({ number, completedAt: maybe(at) }), { selector: (each) => each.number }),
    openOnHost: fc.uniqueArray(number),
    warnAfterMinutes: fc.dictionary(
      state,
      fc.integer({ min: 1, max: 40 }).map((sixths) => sixths * 360),
    ),
  })
  .map(({ lives, ...facts }) => ({
    ...facts,
    issues: lives.map(({ issue }) => issue),
    transitions: lives.flatMap(({ moves }) => moves).sort((a, b) => a.at - b.at),
  }));

/** The windows that are served, and one that contains everything. */
export const window = fc.constantFrom(DAY_MS, 7 * DAY_MS, 30 * DAY_MS, 400 * DAY_MS);
