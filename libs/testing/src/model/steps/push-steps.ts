import { branchOf, type HostPullRequest } from '@pipeline/domain';
import fc from 'fast-check';
import { BOT, STRANGER } from '../host/state.ts';
import { nextSha, ownPull, type World } from '../world/world.ts';
import { deliver, outbox } from './passes.ts';
import { onHost, pick, type Step } from './step.ts';
import { NOTHING } from './verdict.ts';
import { finish, take } from './worker.ts';

type Task = NonNullable<Awaited<ReturnType<typeof take>>>['task'];

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

const ALL = 100;

/** Finishes tasks with their first outcome; `between` runs before the host writes of each are sent. */
async function workOn(world: World, tasks: number, between: (task: Task) => Promise<void> | void): Promise<void> {
  for (let done = 0; done < tasks; done += 1) {
    const held = await take(world, world.workers[0] ?? '');
    if (!held) return;
    await finish(world, held, { outcome: 0, blocking: false, usd: 1 });
    await between(held.task);
    await deliver(world, ALL);
    await outbox(world);
  }
}

/** A pull request from a fork whose branch has the name of the pipeline's: by a stranger, or by the pipeline's identity. */
const forkPulls: fc.Arbitrary<Step> = fc
  .record({ issue: fc.nat(4), fixes: fc.boolean(), by: fc.constantFrom(STRANGER, BOT), tasks: fc.nat(5) })
  .map((data) => ({
    name: 'openFromFork',
    data,
    onIssue: true,
    async run(model, world) {
      const number = pick(model, data.issue);
      if (openFromForks(world).length < 2) {
        const draft = { title: 'Mine', body: data.fixes ? `Fixes #${number}` : '', headRef: branchOf(number) };
        const fork = { headRepo: FORK, headSha: nextSha(world) };
        world.host.state.openPull({ ...draft, baseRef: 'main' }, data.by, fork);
      }
      await deliver(world, ALL);
      await workOn(world, data.tasks, () => undefined);
      return { moves: 'all' };
    },
  }));

const FORK = `${STRANGER}/model`;
const openFromForks = ({ host }: World): HostPullRequest[] =>
  [...host.state.pulls.values()].filter(({ headRepo, state }) => headRepo === FORK && state === 'open');

const forkChanges: fc.Arbitrary<Step> = fc
  .record({ at: fc.nat(1), action: fc.constantFrom('push', 'push', 'close', 'merge' as const) })
  .map((data) =>
    onHost('changeFork', data, (world) => {
      const { state } = world.host;
      const pull = openFromForks(world)[data.at];
      if (!pull) return;
      const author = pull.author ?? STRANGER;
      if (data.action === 'push') state.moveHead(pull, nextSha(world), author);
      else state.endPull(pull, data.action === 'merge', data.action === 'merge' ? 'anna' : author);
    }),
  );

/** A person opens a pull request from the pipeline's work branch after its submission and before the pipeline does. */
const squats: fc.Arbitrary<Step> = fc.record({ issue: fc.nat(4), tasks: fc.nat(8) }).map((data) => ({
  name: 'openFromWorkBranch',
  data,
  onIssue: true,
  async run(model, world) {
    const { state } = world.host;
    const squat = (headRef: string) => {
      if (!state.branches.has(headRef) || state.openPullsOf(headRef).length > 0) return;
      state.openPull({ title: 'Taken', body: '', headRef, baseRef: 'main' }, 'ben');
    };
    squat(branchOf(pick(model, data.issue)));
    await workOn(world, data.tasks, ({ issueNumber }) => squat(branchOf(issueNumber ?? 0)));
    return { moves: 'all' };
  },
}));

/** A person frees a branch for the pipeline, as its dead letter requests. */
export function freeBranches({ host }: World): void {
  for (const pull of host.state.pulls.values()) {
    if (pull.author === 'ben' && pull.title === 'Taken') host.state.endPull(pull, false, 'ben');
  }
}

export const PUSH_STEPS: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: pushes },
  { weight: 4, arbitrary: pushesUnderATask },
  { weight: 2, arbitrary: pushesBeforeTheMerge },
  { weight: 3, arbitrary: forkPulls },
  { weight: 2, arbitrary: forkChanges },
  { weight: 1, arbitrary: squats },
);
