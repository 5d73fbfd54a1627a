import { branchOf, type HostPullRequest } from '@pipeline/domain';
import fc from 'fast-check';
import { finish, take } from './agent-steps.ts';
import { BOT, PEOPLE, STRANGER } from './host-state.ts';
import { deliver, outbox } from './host-steps.ts';
import { NOTHING, pick, type Step } from './step.ts';
import { nextSha, type World } from './world.ts';

/** An event on the host only; the pipeline is notified by a webhook or a poll. */
const onHost = <T>(name: string, data: T, run: (world: World, issue: (index: number) => number) => unknown): Step => ({
  name,
  data,
  onIssue: true,
  async run(model, world) {
    await run(world, (index) => pick(model, index));
    return NOTHING;
  },
});

const ownPull = ({ host }: World, number: number): HostPullRequest | undefined =>
  host.state.pullsOf(branchOf(number)).findLast(({ author }) => author === BOT);

/** Identities that may push to a branch of the repository: an agent with the pipeline's identity, and two people. */
const pusher = fc.constantFrom(BOT, 'anna', 'ben');

/** A new commit, or with `back` a force-push to an earlier head. */
function push(world: World, number: number, { by, back }: { by: string; back: number | null }): void {
  const { state } = world.host;
  const branch = branchOf(number);
  const earlier = state.headsOf(ownPull(world, number)?.number ?? 0);
  const sha = back === null ? nextSha(world) : earlier[back % Math.max(1, earlier.length)];
  if (sha !== undefined && state.branches.has(branch)) state.push(branch, sha, by);
}

const pushes: fc.Arbitrary<Step> = fc
  .record({ issue: fc.nat(4), by: pusher, back: fc.option(fc.nat(3)) })
  .map((data) => onHost('push', data, (world, issue) => push(world, issue(data.issue), data)));

/** A push while a worker has a task; some of its webhooks arrive before the worker reports. */
const pushesUnderATask: fc.Arbitrary<Step> = fc
  .record({ by: pusher, back: fc.option(fc.nat(3)), heard: fc.nat(3), sent: fc.boolean() })
  .map((data) => ({
    name: 'pushUnderATask',
    data,
    onIssue: true,
    async run(_model, world) {
      const held = await take(world, world.workers[0] ?? '');
      if (!held) return NOTHING;
      push(world, held.task.issueNumber ?? 0, data);
      await deliver(world, data.heard);
      await finish(world, held, { outcome: 0, blocking: false, usd: 1 });
      if (data.sent) await outbox(world);
      return { moves: 'all' };
    },
  }));

/** A push between the request for a merge and its write. */
const pushesBeforeTheMerge: fc.Arbitrary<Step> = fc
  .record({ issue: fc.nat(4), by: pusher, heard: fc.boolean() })
  .map((data) => ({
    name: 'pushBeforeTheMerge',
    data,
    onIssue: true,
    async run(model, world) {
      const number = pick(model, data.issue);
      for (let tasks = 0; tasks < 6 && model.issues.size > 0; tasks += 1) {
        const held = await take(world, world.workers[0] ?? '');
        if (!held) break;
        const isMerge = held.task.taskType === 'merge';
        await finish(world, held, { outcome: 0, blocking: false, usd: 1 });
        if (isMerge) push(world, held.task.issueNumber ?? number, { by: data.by, back: null });
        if (data.heard) await deliver(world, 10);
        await outbox(world);
      }
      return { moves: 'all' };
    },
  }));

/** A stranger's pull request from a fork whose branch has the name of the pipeline's. */
const forkPulls: fc.Arbitrary<Step> = fc.record({ issue: fc.nat(4), fixes: fc.boolean() }).map((data) =>
  onHost('openFromFork', data, (world, issue) => {
    const number = issue(data.issue);
    const open = strangersOpen(world).length;
    if (open >= 2) return;
    const draft = { title: 'Mine', body: data.fixes ? `Fixes #${number}` : '', headRef: branchOf(number) };
    const fork = { headRepo: `${STRANGER}/model`, headSha: nextSha(world) };
    world.host.state.openPull({ ...draft, baseRef: 'main' }, STRANGER, fork);
  }),
);

const strangersOpen = ({ host }: World): HostPullRequest[] =>
  [...host.state.pulls.values()].filter(({ author, state }) => author === STRANGER && state === 'open');

const forkChanges: fc.Arbitrary<Step> = fc
  .record({ at: fc.nat(1), deed: fc.constantFrom('push', 'push', 'close', 'merge' as const) })
  .map((data) =>
    onHost('changeFork', data, (world) => {
      const { state } = world.host;
      const pull = strangersOpen(world)[data.at];
      if (!pull) return;
      if (data.deed === 'push') state.moveHead(pull, nextSha(world), STRANGER);
      else state.endPull(pull, data.deed === 'merge', data.deed === 'merge' ? 'anna' : STRANGER);
    }),
  );

/** A person opens a pull request from the pipeline's work branch before the pipeline does. */
const squats: fc.Arbitrary<Step> = fc.nat(4).map((index) =>
  onHost('openFromWorkBranch', index, ({ host }, issue) => {
    const headRef = branchOf(issue(index));
    if (!host.state.branches.has(headRef) || host.state.openPullsOf(headRef).length > 0) return;
    host.state.openPull({ title: 'Taken', body: '', headRef, baseRef: 'main' }, 'ben');
  }),
);

/** A person frees a branch for the pipeline, as its dead letter requests. */
export function freeBranches({ host }: World): void {
  for (const pull of host.state.pulls.values()) {
    if (pull.author === 'ben' && pull.title === 'Taken') host.state.endPull(pull, false, 'ben');
  }
}

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

export const PUSH_STEPS: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: pushes },
  { weight: 4, arbitrary: pushesUnderATask },
  { weight: 2, arbitrary: pushesBeforeTheMerge },
  { weight: 3, arbitrary: forkPulls },
  { weight: 2, arbitrary: forkChanges },
  { weight: 1, arbitrary: squats },
  { weight: 4, arbitrary: reviews },
  { weight: 1, arbitrary: dismissals },
);
