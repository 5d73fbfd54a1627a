import { answered } from './errors.ts';
import { done, type Executor, repeated, type Target } from './target.ts';

const issueOf = (target: Target) => ({ ...target.at, issue_number: target.issueNumber });

/** Adding a label that is there changes nothing, so no look is needed before a repetition. */
export const addLabels: Executor<'addLabels'> = async (target, { labels }) => {
  if (labels.length === 0) return repeated();
  await target.client.rest.issues.addLabels({ ...issueOf(target), labels });
  return done();
};

export const removeLabels: Executor<'removeLabels'> = async (target, { labels }) => {
  let removed = 0;
  for (const name of labels) if (await removeLabel(target, name)) removed += 1;
  return removed === 0 ? repeated() : done();
};

/** Adds first: an attempt that breaks off leaves an issue with two labels of ours, never with none. */
export const swapLabels: Executor<'swapLabels'> = async (target, { remove, add }) => {
  const added = await addLabels(target, { type: 'addLabels', labels: add });
  const removed = await removeLabels(target, {
    type: 'removeLabels',
    labels: remove.filter((label) => !add.includes(label)),
  });
  return added.status === 'ok' && !added.repeated ? added : removed;
};

/** @returns false when the issue did not carry the label; throws the host's 404 when there is no such issue. */
async function removeLabel(target: Target, name: string): Promise<boolean> {
  try {
    await target.client.rest.issues.removeLabel({ ...issueOf(target), name });
    return true;
  } catch (error) {
    if (!answered(error, 404)) throw error;
    // The same status stands for a missing label and a missing issue.
    await target.client.rest.issues.get(issueOf(target));
    return false;
  }
}
