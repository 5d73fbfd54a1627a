import { expect } from '@jest/globals';
import { AppError, type ConsistencyKind, restartState, STATES, type State, validTargets } from '@pipeline/domain';
import type { IssueAction, StoreRepair } from '@pipeline/engine';
import fc from 'fast-check';
import { issuesOf, type Seen, type World } from '../world/world.ts';
import { type Model, pick, type Step } from './step.ts';
import { moves, NOTHING, type Verdict } from './verdict.ts';
import { take } from './worker.ts';

/** The certain result of an action, from the previous row of the issue. */
function certainAfter(action: IssueAction, model: Model, number: number): Verdict {
  const before = model.issues.get(number);
  if (!before || before.state === 'done') return NOTHING;
  const { state } = before;
  switch (action) {
    case 'pause':
    case 'resume':
      return { moves: [number], certain: { number, state, paused: action === 'pause' } };
    case 'retry':
      return { moves: [], certain: { number, state } };
    case 'cancel':
      return { moves: [number], certain: { number, state: 'done', paused: false } };
    case 'reimplement':
      return { moves: [number], certain: { number, state: restartState(before.plan) } };
    case 'unblock':
      return moves(...(state.endsWith('-blocked') ? [number] : []));
  }
}

const ACTIONS: IssueAction[] = ['pause', 'resume', 'unblock', 'retry', 'cancel', 'reimplement'];

const actions: fc.Arbitrary<Step> = fc
  .record({
    issue: fc.nat(4),
    action: fc.oneof(
      { weight: 5, arbitrary: fc.constantFrom(...ACTIONS.slice(0, 4)) },
      { weight: 1, arbitrary: fc.constantFrom(...ACTIONS) },
    ),
  })
  .map((data) => ({
    name: 'act',
    data,
    onIssue: true,
    async run(model, world) {
      const number = pick(model, data.issue);
      await world.acts.act(number, data.action);
      return certainAfter(data.action, model, number);
    },
  }));

function refused(error: unknown): false {
  if (error instanceof AppError && error.code === 'INVALID_TRANSITION') return false;
  throw error;
}

/** Moves an issue to a valid target of its state, or to any other, which is refused with the valid targets. */
const transitions: fc.Arbitrary<Step> = fc
  .record({ issue: fc.nat(4), target: fc.nat(20), valid: fc.boolean() })
  .map((data) => ({
    name: 'transition',
    data,
    onIssue: true,
    async run(model, world) {
      const number = pick(model, data.issue);
      const from = model.issues.get(number)?.state as State;
      const offered = validTargets(world.workflow, from);
      const targets = data.valid ? offered : STATES.filter((state) => !offered.includes(state));
      const target = targets[data.target % targets.length] as State;
      const went = await world.acts.transition(number, target).then(() => true, refused);
      expect({ target, went }).toEqual({ target, went: data.valid });
      if (!went) return NOTHING;
      return { moves: [number], certain: { number, state: target === 'new' ? 'analyzing' : target } };
    },
  }));

const PLAN_ANSWERS = [
  { kind: 'approve' as const },
  { kind: 'approve' as const, text: 'Do it in two steps.' },
  { kind: 'reject' as const },
];

/**
 * Answers the version of a plan that waits for an answer; or another version, or a plan that does not wait: both are
 * refused.
 */
const answersToPlans: fc.Arbitrary<Step> = fc
  .record({ issue: fc.nat(4), answer: fc.constantFrom(...PLAN_ANSWERS), old: fc.boolean() })
  .map((data) => ({
    name: 'answerPlan',
    data,
    onIssue: true,
    async run(model, world) {
      const issues = await issuesOf(world);
      // Otherwise most of the answers would find no plan.
      const waiting = [...issues.values()].find(waitsForAnswer);
      const { number, planVersion } = waiting ?? (issues.get(pick(model, data.issue)) as Seen);
      const another = planVersion > 1 ? planVersion - 1 : planVersion + 1;
      const version = data.old ? another : Math.max(1, planVersion);
      const went = await world.acts.answerPlan(number, { ...data.answer, version }).then(() => true, refused);
      expect(went).toBe(waiting !== undefined && !data.old);
      if (!went) return NOTHING;
      return { moves: [number], certain: { number, plan: data.answer.kind === 'approve' ? 'approved' : 'rejected' } };
    },
  }));

const waitsForAnswer = ({ state, plan }: Seen): boolean => state === 'human-review-ready' && plan === 'pending';

/** The issue moves elsewhere while its worker is working, and another worker claims. */
const movesUnderAWorker: fc.Arbitrary<Step> = fc.record({ target: fc.nat(20), retry: fc.boolean() }).map((data) => ({
  name: 'moveUnderAWorker',
  data,
  onIssue: true,
  async run(model, world) {
    const held = await take(world, world.workers[0] ?? '');
    if (!held) return NOTHING;
    const number = held.task.issueNumber ?? 0;
    const targets = validTargets(world.workflow, model.issues.get(number)?.state as State);
    await world.acts.transition(number, targets[data.target % targets.length] as State);
    if (data.retry) await world.acts.act(number, 'retry');
    await take(world, world.workers[1] ?? '');
    return moves(number);
  },
}));

const deadLetters: fc.Arbitrary<Step> = fc.record({ index: fc.nat(3), retry: fc.boolean() }).map((data) => ({
  name: 'deadLetter',
  data,
  onIssue: true,
  async run(_model, world) {
    const rows = await world.database.db
      .selectFrom('dead_letters')
      .select(['id', 'issue_number'])
      .where('resolved_at', 'is', null)
      .orderBy('id')
      .execute();
    const deadLetter = rows[data.index % Math.max(1, rows.length)];
    if (!deadLetter) return NOTHING;
    if (!data.retry) {
      await world.acts.resolveDeadLetter(deadLetter.id);
      return NOTHING;
    }
    await world.acts.retryDeadLetter(deadLetter.id);
    return moves(deadLetter.issue_number);
  },
}));

const projections: fc.Arbitrary<Step> = fc
  .record({ back: fc.nat(5), to: fc.constantFrom('retry' as const, 'discard' as const) })
  .map((data) => ({
    name: 'projection',
    data,
    onIssue: true,
    async run(_model, world) {
      const rows = await world.database.db
        .selectFrom('projections')
        .select('id')
        .where('status', 'in', ['pending', 'failed'])
        .orderBy('id', 'desc')
        .execute();
      const row = rows[data.back % Math.max(1, rows.length)];
      if (row) await world.acts.steerProjection(row.id, data.to);
      return NOTHING;
    },
  }));

const fleet: fc.Arbitrary<Step> = fc
  .record({ worker: fc.nat(1), action: fc.constantFrom('drain', 'goOn', 'reclaim') })
  .map((data) => ({
    name: 'worker',
    data,
    onIssue: false,
    async run(_model, world) {
      const worker = world.workers[data.worker] ?? '';
      if (data.action === 'reclaim') await world.acts.reclaimFromWorker(worker);
      else await world.acts.drainWorker(worker, data.action === 'drain');
      return NOTHING;
    },
  }));

const REPAIRS: Partial<Record<ConsistencyKind, StoreRepair>> = {
  stale_blocked: 'clear-flag',
  stale_subtask_edge: 'resolve-subtask-edges',
  orphan_dependency_edge: 'delete-orphan-edges',
};

const repairs: fc.Arbitrary<Step> = fc.nat(5).map((index) => ({
  name: 'repair',
  data: index,
  onIssue: true,
  async run(_model, world) {
    const findings = await world.acts.findings();
    const finding = findings[index % Math.max(1, findings.length)];
    const repair = finding && REPAIRS[finding.kind];
    if (!finding || !repair) return NOTHING;
    await world.acts.repair(repair, finding.id);
    return finding.issueNumber === null ? NOTHING : moves(finding.issueNumber);
  },
}));

export const OPERATOR_STEPS: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: actions },
  { weight: 3, arbitrary: transitions },
  { weight: 3, arbitrary: answersToPlans },
  { weight: 1, arbitrary: movesUnderAWorker },
  { weight: 2, arbitrary: deadLetters },
  { weight: 2, arbitrary: projections },
  { weight: 1, arbitrary: fleet },
  { weight: 1, arbitrary: repairs },
);

/** An operator's action for every issue without progress, whatever it waits for. */
export async function helpEverybody(world: World, time: number): Promise<void> {
  const { database, acts } = world;
  for (const worker of world.workers) await acts.drainWorker(worker, false);
  const failed = await database.db.selectFrom('projections').select('id').where('status', '=', 'failed').execute();
  for (const { id } of failed) await acts.steerProjection(id, 'retry');
  const open = await database.db.selectFrom('dead_letters').select('id').where('resolved_at', 'is', null).execute();
  for (const { id } of open) await acts.retryDeadLetter(id);
  for (const issue of (await issuesOf(world)).values()) {
    if (issue.state !== 'done') await help(world, issue, time);
  }
}

async function help({ acts }: World, issue: Seen, time: number): Promise<void> {
  const { number, state, paused, blocked } = issue;
  if (paused) await acts.act(number, 'resume');
  if (waitsForAnswer(issue))
    return void (await acts.answerPlan(number, { kind: 'approve', version: issue.planVersion }));
  // For a repeated obstacle the work is restarted.
  if (time > 2) await acts.act(number, 'reimplement');
  else if (blocked) await acts.act(number, 'unblock');
  else if (state === 'needs-clarification' || state === 'human-review-ready') {
    await acts.transition(number, 'done');
  } else await acts.act(number, 'retry');
}
