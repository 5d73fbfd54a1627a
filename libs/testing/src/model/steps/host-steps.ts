import fc from 'fast-check';
import type { Trouble } from '../host/host.ts';
import type { Death } from '../world/acts.ts';
import type { World } from '../world/world.ts';
import { deliver, outbox } from './passes.ts';
import type { Step } from './step.ts';
import { NOTHING, type Verdict } from './verdict.ts';

const ANY: Verdict = { moves: 'all' };

const deliveries: fc.Arbitrary<Step> = fc
  .record({ count: fc.integer({ min: 1, max: 6 }), twice: fc.boolean() })
  .map((data) => ({
    name: 'deliver',
    data,
    onIssue: false,
    async run(_model, world) {
      await deliver(world, data.count, data.twice);
      return ANY;
    },
  }));

/** Webhooks are lost sometimes; the poll compensates. */
const losses: fc.Arbitrary<Step> = fc.integer({ min: 1, max: 3 }).map((count) => ({
  name: 'loseWebhooks',
  data: count,
  onIssue: false,
  async run(_model, world) {
    world.host.state.webhooks.splice(0, count);
    return NOTHING;
  },
}));

const polls: fc.Arbitrary<Step> = fc.constant({
  name: 'poll',
  data: null,
  onIssue: false,
  async run(_model, world) {
    await world.acts.poll();
    return ANY;
  },
});

/** A poll with the host state from before our own writes, or before a newer webhook. */
const slowPolls: fc.Arbitrary<Step> = fc
  .record({
    read: fc.constantFrom('listIssues' as const, 'getPullRequest' as const),
    meanwhile: fc.constantFrom('outbox', 'webhook'),
  })
  .map((data) => ({
    name: 'slowPoll',
    data,
    onIssue: false,
    async run(_model, world) {
      const happens = () => (data.meanwhile === 'outbox' ? outbox(world) : deliver(world, 1));
      world.host.meanwhile = { read: data.read, happens };
      await world.acts.poll();
      world.host.meanwhile = null;
      return ANY;
    },
  }));

const passes: fc.Arbitrary<Step> = fc
  .record({
    count: fc.oneof({ weight: 2, arbitrary: fc.constant(100) }, fc.integer({ min: 1, max: 3 })),
    death: fc.oneof(
      { weight: 4, arbitrary: fc.constant('never' as const) },
      { weight: 3, arbitrary: fc.constantFrom<Death>('before the write', 'before the record', 'two at once') },
    ),
    dying: fc.constantFrom(1, 1, 100),
  })
  .map((data) => ({
    name: 'outbox',
    data,
    onIssue: false,
    async run(_model, world) {
      await outbox(world, data.count, data.death, data.dying);
      return ANY;
    },
  }));

const TROUBLES: Record<string, (world: World) => Trouble> = {
  down: () => ({ reachesHost: false, answer: { status: 'failed', message: 'the host is down', ambiguous: false } }),
  cutBefore: () => ({ reachesHost: false, answer: { status: 'failed', message: 'socket hang up', ambiguous: true } }),
  cutAfter: () => ({ reachesHost: true, answer: { status: 'failed', message: 'socket hang up', ambiguous: true } }),
  forbidden: () => ({
    reachesHost: false,
    answer: { status: 'refused', httpStatus: 403, message: 'forbidden', kind: 'other' },
  }),
  limited: ({ database }) => ({
    reachesHost: false,
    answer: {
      status: 'rate-limited',
      retryAt: new Date((database.clock.now?.getTime() ?? 0) + 90_000).toISOString(),
      message: 'slow down',
    },
  }),
};

const troubles: fc.Arbitrary<Step> = fc
  .array(fc.constantFrom('fine', ...Object.keys(TROUBLES)), { minLength: 1, maxLength: 4 })
  .map((data) => ({
    name: 'trouble',
    data,
    onIssue: true,
    async run(_model, world) {
      world.host.troubles.length = 0;
      for (const kind of data) {
        const trouble = TROUBLES[kind];
        world.host.troubles.push(trouble ? trouble(world) : null);
      }
      return NOTHING;
    },
  }));

/** The host's response to the next merge beside its own checks. */
const mergeTroubles: fc.Arbitrary<Step> = fc.constantFrom('conflict' as const, 'protected' as const).map((kind) => ({
  name: 'mergeWillMeet',
  data: kind,
  onIssue: true,
  async run(_model, world) {
    world.host.nextMerge = kind;
    return NOTHING;
  },
}));

export const HOST_STEPS: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: deliveries },
  { weight: 7, arbitrary: passes },
  { weight: 2, arbitrary: polls },
  { weight: 2, arbitrary: slowPolls },
  { weight: 1, arbitrary: losses },
  { weight: 2, arbitrary: troubles },
  { weight: 1, arbitrary: mergeTroubles },
);
