import { type ChecksWait, chooseFront, MINUTE_MS, type ProjectionAction } from '@pipeline/domain';
import { lockTrainFront, setTrainFront, touchTrainFront, trainCars } from '@pipeline/store';
import { type Engine, inTenant, type TransactionContext } from '../context/context.ts';
import { queueProjections } from '../outbox/project.ts';
import type { Sending } from './begin.ts';
import { endWaiting, type HeldMerge, holdDraft, holdMerge, postponeMerge } from './merge-wait.ts';

type Merge = Extract<ProjectionAction, { type: 'mergePR' }>;

/**
 * Returns whether a merge may start, in a repo that merges one pull request after another. All others are postponed
 * without a request to the host, and record the pull request that they wait for. The choice is made under a lock of the
 * repo's train, so that of two replicas, and of concurrent attempts, one answer is true.
 */
export function isItsTurn(engine: Engine, sending: Sending, action: Merge): Promise<boolean> {
  return inTenant(engine, sending.projection.tenant_id, async (unit) => {
    const held = await holdMerge(unit, sending, action);
    if (held === 'settled') return false;
    // The host compares the head, and only the host can report what became of a merge whose issue has moved on.
    if (held === 'other-head' || 'unwanted' in held) return true;
    if (held.subject.pr.draft) {
      await holdDraft(unit, held, action.expectedHeadSha);
      return false;
    }
    const front = await updateFront(unit, sending.repo.id);
    if (front === action.prNumber) return true;
    await waitForFront(unit, held, { sha: action.expectedHeadSha, front });
    return false;
  });
}

async function updateFront(unit: TransactionContext, repoId: number): Promise<number | null> {
  const { tx, tenantId, settings } = unit;
  const key = { tenantId, repoId };
  const current = await lockTrainFront(tx, key);
  const cars = await trainCars(tx, key, current?.prNumber ?? 0);
  const front = chooseFront(cars, current, settings.checks.timeoutMinutes * MINUTE_MS);
  if (front !== (current?.prNumber ?? null)) await setTrainFront(tx, key, front);
  return front;
}

/** The host is not written to: a status comment for each place in the train would be a request for each merge. */
async function waitForFront(
  unit: TransactionContext,
  held: HeldMerge,
  { sha, front }: { sha: string; front: number | null },
): Promise<void> {
  const wait: ChecksWait | null = front === null ? null : { sha, verdict: 'train', waitsFor: [`#${front}`] };
  await postponeMerge(unit, held, wait);
}

/** The base has commits that the branch lacks: the branch is updated, and its new head needs checks of its own. */
export async function updateBeforeMerge(unit: TransactionContext, held: HeldMerge): Promise<void> {
  const { subject } = held;
  const { number: prNumber, head_sha: expectedHeadSha } = subject.pr;
  await endWaiting(unit, held, `the branch of #${prNumber} is behind ${subject.repo.default_branch}`);
  await queueProjections(unit, subject, [{ type: 'updateBranch', prNumber, expectedHeadSha }]);
  await restartFront(unit, subject);
}

/** The front has the time for its next step from now on. @param updatedHead the head that our update made. */
export async function restartFront(
  { tx, tenantId }: TransactionContext,
  { repo, pr }: Pick<HeldMerge['subject'], 'repo' | 'pr'>,
  updatedHead?: string,
): Promise<void> {
  if (repo.merge_train !== 'serial') return;
  await touchTrainFront(tx, { tenantId, repoId: repo.id, prNumber: pr.number }, updatedHead);
}
