import { expect } from '@jest/globals';
import type { ExecuteResult, HostEvent } from '@pipeline/domain';
import { beginSending, pollRepo, type Sending, sendable, settle, takeHostEvent } from '@pipeline/engine';
import fc from 'fast-check';
import { sql } from 'kysely';
import type { Trouble } from './host.ts';
import { NOTHING, type Step, type Verdict } from './step.ts';
import type { World } from './world.ts';

const ANY: Verdict = { moves: 'all' };

const intakeOf = ({ engine, repo, host }: World) => ({ engine, repo, host });

/** Delivers the webhooks that wait, oldest first. @param twice a redelivery, which the inbox would let through. */
export async function deliver(world: World, count: number, twice = false): Promise<void> {
  for (const event of world.host.state.webhooks.splice(0, count)) {
    const told: HostEvent[] = twice && (event.kind === 'comment' || event.kind === 'review') ? [event, event] : [event];
    for (const one of told) await takeHostEvent(intakeOf(world), one);
  }
}

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

/** Webhooks are lost now and then; the poll is there for that. */
const losses: fc.Arbitrary<Step> = fc.integer({ min: 1, max: 3 }).map((count) => ({
  name: 'loseWebhooks',
  data: count,
  onIssue: false,
  async run(_model, world) {
    world.host.state.webhooks.splice(0, count);
    return NOTHING;
  },
}));

export const poll = (world: World): Promise<number> =>
  pollRepo(intakeOf(world), () => new Date(world.database.clock.now ?? 0));

const polls: fc.Arbitrary<Step> = fc.constant({
  name: 'poll',
  data: null,
  onIssue: false,
  async run(_model, world) {
    await poll(world);
    return ANY;
  },
});

/** How an executor dies. Two of them may be at the same entry when the lead moves. */
type Death = 'before the write' | 'before the record' | 'never' | 'two at once';

async function sendOne(world: World, entry: { tenant_id: number; id: number }, death: Death): Promise<void> {
  const { engine, host } = world;
  const sendings = [await beginSending(engine, entry.tenant_id, entry.id)];
  if (death === 'two at once') sendings.push(await beginSending(engine, entry.tenant_id, entry.id));
  if (death === 'before the write') return;
  for (const sending of sendings) {
    if (!sending) continue;
    const { projection, repo, mayHaveHappened } = sending;
    const result = await host.execute(repo, projection.issue_number, projection.action, { mayHaveHappened });
    if (death !== 'before the record') await settleOnce(world, sending, result);
  }
}

/** What is written down of an answer; one that comes after an entry is complete adds its attempt, and nothing else. */
async function settleOnce(world: World, sending: Sending, result: ExecuteResult): Promise<void> {
  const before = await traceOf(world, sending);
  await settle(world.engine, sending, result);
  if (before.status === 'complete') expect(await traceOf(world, sending)).toEqual(before);
  if (result.status === 'failed') {
    expect(await sendable(world.engine, 'sandbox', 100)).not.toContainEqual(
      expect.objectContaining({ id: sending.projection.id }),
    );
  }
}

/** An entry of the outbox, and all that could follow from its answer. */
async function traceOf({ database }: World, { projection }: Sending): Promise<Record<string, unknown>> {
  const { rows } = await sql<Record<string, unknown>>`
    select p.status, p.attempts, p.result, i.state, i.updated_at,
      (select count(*) from tasks) as tasks, (select count(*) from projections) as wishes,
      (select count(*) from pipeline_events) as events, (select count(*) from issue_edges) as edges
    from projections p left join issues i on i.id = p.issue_id where p.id = ${projection.id}`.execute(database.db);
  return rows[0] ?? {};
}

/** One pass of the outbox, as the monitor's loop makes it; the last `dying` entries die. @returns how many were sent. */
export async function outbox(world: World, count = 100, death: Death = 'never', dying = 1): Promise<number> {
  const ready = (await sendable(world.engine, 'sandbox', 100)).slice(0, count);
  for (const [index, entry] of ready.entries())
    await sendOne(world, entry, index >= ready.length - dying ? death : 'never');
  return ready.length;
}

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

/** What the host says to the next merge beside what it finds out by itself. */
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
  { weight: 1, arbitrary: losses },
  { weight: 2, arbitrary: troubles },
  { weight: 1, arbitrary: mergeTroubles },
);
