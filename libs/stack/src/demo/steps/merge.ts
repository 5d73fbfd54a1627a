import { outcome, type Step } from './context.ts';

/** Says whether the reviewed head can be merged now; the merge itself is the host's. */
export const merge: Step = async ({ task, branch, checkout, emit }) => {
  const { pr } = task.payload;
  const head = await checkout.commitOf(checkout.remote(branch));
  if (!pr || head === null)
    return outcome('not-ready', { reason: pr ? `The host has no branch ${branch}.` : 'No pull request is known.' });
  if (pr.headSha !== null && pr.headSha !== head)
    return outcome('not-ready', { reason: `${branch} has moved from ${pr.headSha} to ${head}: review it again.` });
  const files = await checkout.conflicts(checkout.base, head);
  emit({
    type: 'progress',
    status: files.length > 0 ? `${files.length} conflicts` : `${head.slice(0, 10)} merges cleanly`,
  });
  return files.length > 0 ? outcome('conflict', { files }) : outcome('mergeable', { headSha: head });
};
