import { expect } from '@jest/globals';
import fc from 'fast-check';
import { type Held, invocations, pass, type World } from '../world/world.ts';
import { LIES } from './lies.ts';
import { outbox, upkeep } from './passes.ts';
import type { Step } from './step.ts';
import { NOTHING } from './verdict.ts';
import { ERRORS, fails, finish, lie, refusal, take } from './worker.ts';

const claims: fc.Arbitrary<Step> = fc.record({ worker: fc.nat(1), starts: fc.boolean() }).map((data) => ({
  name: 'claim',
  data,
  onIssue: true,
  async run(_model, world) {
    await take(world, world.workers[data.worker] ?? '', data.starts);
    return NOTHING;
  },
}));

/** Picks one of all claims made so far, preferring the newest ones. */
const heldAt = ({ held }: World, back: number): Held | undefined => held[held.length - 1 - back];

const reports: fc.Arbitrary<Step> = fc
  .record({
    back: fc.nat(3),
    outcome: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, { weight: 2, arbitrary: fc.nat(4) }),
    blocking: fc.oneof({ weight: 6, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
    usd: fc.nat(3),
  })
  .map((data) => ({
    name: 'report',
    data,
    onIssue: true,
    async run(_model, world) {
      const held = heldAt(world, data.back);
      return held ? finish(world, held, data) : NOTHING;
    },
  }));

const failures: fc.Arbitrary<Step> = fc
  .record({
    back: fc.nat(2),
    fresh: fc.boolean(),
    error: fc.nat(ERRORS.length - 1),
    usd: fc.nat(2),
    /** The upkeep loops run right after it. */
    seen: fc.boolean(),
  })
  .map((data) => ({
    name: 'fail',
    data,
    onIssue: true,
    async run(_model, world) {
      const held = data.fresh ? await take(world, world.workers[0] ?? '') : heldAt(world, data.back);
      const error = ERRORS[data.error];
      if (!held || !error) return NOTHING;
      held.costUsd += data.usd;
      const verdict = await fails(world, held, error);
      if (!data.seen) return verdict;
      await upkeep(world);
      return { moves: 'all' };
    },
  }));

/** A report without a response is repeated unchanged: the repetition must have no effect. */
const repeats: fc.Arbitrary<Step> = fc.nat(5).map((back) => ({
  name: 'sayAgain',
  data: back,
  onIssue: true,
  async run(_model, world) {
    const held = heldAt(world, back);
    if (held?.said?.kind === 'report') {
      await world.acts.report(held.task, held.said.body).catch(refusal);
    }
    if (held?.said?.kind === 'fail') {
      const { message, costUsd } = held.said;
      const failure = { errorMessage: message, errorClass: 'transient' as const };
      const reported = invocations(world, held, costUsd);
      await world.acts.fail(held.task, { ...failure, invocations: reported }).catch(refusal);
    }
    return NOTHING;
  },
}));

const progresses: fc.Arbitrary<Step> = fc.record({ back: fc.nat(3), usd: fc.nat(3) }).map((data) => ({
  name: 'progress',
  data,
  onIssue: true,
  async run(_model, world) {
    const held = heldAt(world, data.back);
    if (!held) return NOTHING;
    const costUsd = held.costUsd + data.usd;
    // The progress of an invalid claim is refused, including its cost.
    const progress = {
      status: 'at it',
      details: null,
      invocations: invocations({ ...world, costs: new Map() }, held, costUsd),
    };
    const done = await world.acts.progress(held.task, progress).then(() => 'done', refusal);
    if (done !== 'done') return NOTHING;
    held.costUsd = costUsd;
    invocations(world, held, costUsd);
    return NOTHING;
  },
}));

const beats: fc.Arbitrary<Step> = fc
  .record({ worker: fc.nat(1), status: fc.constantFrom('busy' as const, 'idle' as const, 'leaving' as const) })
  .map((data) => ({
    name: 'heartbeat',
    data,
    onIssue: true,
    async run(_model, world) {
      const worker = world.workers[data.worker] ?? '';
      const mine = world.held.filter((held) => held.worker === worker && held.working);
      const tasks = mine.map(({ task }) => ({ taskId: task.id, claimToken: task.claimToken }));
      const { cancelTaskIds } = await world.acts.heartbeat({ workerId: worker, status: data.status, tasks });
      for (const held of mine) if (cancelTaskIds.includes(held.task.id)) held.working = false;
      if (data.status !== 'leaving') return NOTHING;
      for (const held of mine) held.working = false;
      return { moves: 'all' };
    },
  }));

/** A worker that vanishes sends nothing more; after a restart it is the same worker and has lost its claims. */
const vanishes: fc.Arbitrary<Step> = fc.record({ worker: fc.nat(1), comesBack: fc.boolean() }).map((data) => ({
  name: 'vanish',
  data,
  onIssue: true,
  async run(_model, world) {
    const worker = world.workers[data.worker] ?? '';
    for (const held of world.held) if (held.worker === worker) held.working = false;
    if (!data.comesBack) return NOTHING;
    expect(await world.acts.register(`w${data.worker + 1}`)).toBe(worker);
    return { moves: 'all' };
  },
}));

/** A worker is silent for longer than its lease, then sends requests again; another one may hold the task by then. */
const lateWords: fc.Arbitrary<Step> = fc
  .record({ outcome: fc.nat(4), fails: fc.boolean(), taken: fc.boolean() })
  .map((data) => ({
    name: 'speakLate',
    data,
    onIssue: true,
    async run(_model, world) {
      const held = await take(world, world.workers[0] ?? '');
      if (!held) return NOTHING;
      pass(world, 2_701);
      await upkeep(world);
      if (data.taken) await take(world, world.workers[1] ?? '');
      if (data.fails) await fails(world, held, ['something odd', 'permanent']);
      else await finish(world, held, { ...data, usd: 1, blocking: false });
      return { moves: 'all' };
    },
  }));

/** One task from its claim to its report. */
const works: fc.Arbitrary<Step> = fc
  .record({ outcome: fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, fc.nat(4)), usd: fc.nat(2) })
  .map((data) => ({
    name: 'work',
    data,
    onIssue: true,
    async run(_model, world) {
      pass(world, 1);
      const held = await take(world, world.workers[0] ?? '');
      return held ? finish(world, held, { ...data, blocking: false }) : NOTHING;
    },
  }));

/** A series of successful tasks, because otherwise few runs would get far. */
const runsOfWork: fc.Arbitrary<Step> = fc.integer({ min: 2, max: 8 }).map((tasks) => ({
  name: 'workOn',
  data: tasks,
  onIssue: true,
  async run(_model, world) {
    for (let i = 0; i < tasks; i += 1) {
      const held = await take(world, world.workers[0] ?? '');
      if (held) await finish(world, held, { outcome: 0, usd: 1, blocking: false });
      await outbox(world);
    }
    return { moves: 'all' };
  },
}));

/** Agents that report the same outcome for every task that can end so. */
const insistence: fc.Arbitrary<Step> = fc
  .record({ outcome: fc.integer({ min: 1, max: 2 }), tasks: fc.integer({ min: 8, max: 16 }) })
  .map((data) => ({
    name: 'insist',
    data,
    onIssue: true,
    async run(_model, world) {
      for (let i = 0; i < data.tasks; i += 1) {
        const held = await take(world, world.workers[0] ?? '');
        const outcome = INSISTING.includes(held?.task.taskType ?? '') ? data.outcome : 0;
        if (held) await finish(world, held, { outcome, usd: 1, blocking: false });
        await outbox(world);
      }
      return { moves: 'all' };
    },
  }));

/** Tasks whose second and third outcome send the issue back. */
const INSISTING: readonly string[] = ['review', 'merge'];

const tasksBefore = fc.array(fc.nat(1), { maxLength: 14, size: 'max' });

/** A task whose report lies in every field, between others; reviews and merges among those may send the issue back. */
const lies: fc.Arbitrary<Step> = fc
  .record({ before: tasksBefore, outcome: fc.nat(2), lie: fc.constantFrom(...LIES), after: fc.nat(2) })
  .map((data) => ({
    name: 'lie',
    data,
    onIssue: true,
    async run(_model, world) {
      const work = async (outcome: number) => {
        const held = await take(world, world.workers[0] ?? '');
        const named = INSISTING.includes(held?.task.taskType ?? '') ? outcome : 0;
        if (held) await finish(world, held, { outcome: named, usd: 1, blocking: false });
        await outbox(world);
      };
      for (const outcome of data.before) await work(outcome);
      const held = await take(world, world.workers[0] ?? '');
      if (held) await lie(world, held, data);
      for (let i = 0; i < data.after; i += 1) await work(0);
      return { moves: 'all' };
    },
  }));

export const AGENT_STEPS: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: works },
  { weight: 4, arbitrary: runsOfWork },
  { weight: 4, arbitrary: claims },
  { weight: 4, arbitrary: reports },
  { weight: 2, arbitrary: failures },
  { weight: 1, arbitrary: repeats },
  { weight: 1, arbitrary: lateWords },
  { weight: 1, arbitrary: progresses },
  { weight: 1, arbitrary: beats },
  { weight: 1, arbitrary: vanishes },
  { weight: 1, arbitrary: insistence },
  { weight: 1, arbitrary: lies },
);
