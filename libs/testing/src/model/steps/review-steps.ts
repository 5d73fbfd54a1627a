import { type HostPullRequest, OUTCOMES_OF } from '@pipeline/domain';
import fc from 'fast-check';
import { openByHand } from '../host/by-hand.ts';
import { PEOPLE, STRANGER } from '../host/state.ts';
import { nextSha, ownPull, type World } from '../world/world.ts';
import { deliver, outbox } from './passes.ts';
import { type Model, onHost, type Step } from './step.ts';
import { finish, take } from './worker.ts';

const reviewer = fc.constantFrom(...Object.keys(PEOPLE), STRANGER);

/** A review of any pull request, at any of its heads. */
const reviews: fc.Arbitrary<Step> = fc
  .record({
    pull: fc.nat(5),
    back: fc.nat(2),
    person: reviewer,
    verdict: fc.constantFrom('approved', 'approved', 'approved', 'changes_requested' as const),
  })
  .map((data) =>
    onHost('reviewCommit', data, ({ host: { state } }) => {
      const pulls = [...state.pulls.values()].filter((pull) => pull.state === 'open');
      const pull = pulls[data.pull % Math.max(1, pulls.length)];
      if (!pull) return;
      const heads = state.headsOf(pull.number);
      state.review(pull, data.verdict, data.person, heads.at(-1 - (data.back % heads.length)));
    }),
  );

const dismissals: fc.Arbitrary<Step> = fc.record({ pull: fc.nat(5), review: fc.nat(3) }).map((data) =>
  onHost('dismissReview', data, ({ host: { state } }) => {
    const pulls = [...state.pulls.values()].filter(({ number }) => state.reviews.has(number));
    const pull = pulls[data.pull % Math.max(1, pulls.length)];
    const given = pull ? (state.reviews.get(pull.number) ?? []) : [];
    const review = given[data.review % Math.max(1, given.length)];
    if (pull && review) state.dismiss(pull, review, 'anna');
  }),
);

/** Approvals that must not release a pull request to its merge. */
const VOID = ['of an earlier head', 'without permission', 'of another pull request', 'dismissed'] as const;

async function approveInVain(world: World, { number, pull }: Waiting, kind: (typeof VOID)[number]): Promise<void> {
  const { state } = world.host;
  if (kind === 'of an earlier head') {
    const earlier = state.headsOf(pull.number).findLast((sha) => sha !== pull.headSha);
    if (earlier !== undefined) state.review(pull, 'approved', 'anna', earlier);
  }
  if (kind === 'without permission') state.review(pull, 'approved', world.shas % 2 === 0 ? 'rob' : STRANGER);
  if (kind === 'of another pull request') {
    const other = openByHand(state, number, pull.headSha);
    await deliver(world, ALL);
    state.review(other, 'approved', 'ben');
  }
  if (kind === 'dismissed') {
    state.review(pull, 'approved', 'ben');
    await deliver(world, ALL);
    const review = state.reviews.get(pull.number)?.at(-1);
    if (review) state.dismiss(pull, review, 'anna');
  }
  await deliver(world, ALL);
}

const ALL = 100;

/** An issue that waits for its review by a person, and its pull request. */
interface Waiting {
  number: number;
  pull: HostPullRequest;
}

const NEEDS_HUMAN = OUTCOMES_OF.review.indexOf('needs-human');

/** Works until an issue waits for a person. @returns null = none came that far. */
async function untilAPersonIsAsked(model: Model, world: World): Promise<Waiting | null> {
  const [waiting] = [...model.issues].find(([, { state }]) => state === 'human-review-ready') ?? [];
  let asked = waiting ?? null;
  for (let tasks = 0; tasks < 6 && asked === null; tasks += 1) {
    await commitAgain(world);
    const held = await take(world, world.workers[0] ?? '');
    if (!held) return null;
    const isReview = held.task.taskType === 'review';
    await finish(world, held, { outcome: isReview ? NEEDS_HUMAN : 0, blocking: false, usd: 1 });
    await outbox(world);
    if (isReview) asked = held.task.issueNumber;
  }
  const pull = asked === null ? undefined : ownPull(world, asked);
  return asked !== null && pull?.state === 'open' ? { number: asked, pull } : null;
}

/** A second commit on each pull request of the pipeline: its review is about that one. */
async function commitAgain(world: World): Promise<void> {
  const { state } = world.host;
  for (const pull of state.pulls.values()) {
    const isYoung = pull.state === 'open' && state.headsOf(pull.number).length === 1;
    if (state.isOwn(pull) && isYoung) state.push(pull.headRef, nextSha(world), 'anna');
  }
  await deliver(world, ALL);
}

/** An issue waits for a person, and its pull request gets approvals that do not count, sometimes also one that does. */
const reviewsByPeople: fc.Arbitrary<Step> = fc
  .record({ voids: fc.shuffledSubarray([...VOID], { minLength: 1 }), approved: fc.boolean() })
  .map((data) => ({
    name: 'reviewByPeople',
    data,
    onIssue: true,
    async run(model, world) {
      const waiting = await untilAPersonIsAsked(model, world);
      if (!waiting) return { moves: 'all' };
      for (const kind of data.voids) await approveInVain(world, waiting, kind);
      if (data.approved) world.host.state.review(waiting.pull, 'approved', 'anna');
      await deliver(world, ALL);
      for (let tasks = 0; tasks < 2; tasks += 1) {
        const held = await take(world, world.workers[0] ?? '');
        if (held) await finish(world, held, { outcome: 0, blocking: false, usd: 1 });
        await outbox(world);
      }
      return { moves: 'all' };
    },
  }));

export const REVIEW_STEPS: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: reviews },
  { weight: 1, arbitrary: dismissals },
  { weight: 3, arbitrary: reviewsByPeople },
);
