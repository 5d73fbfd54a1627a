import { answered } from './errors.ts';
import { done, type Executor, repeated } from './target.ts';

export const deleteBranch: Executor<'deleteBranch'> = async (target, { branch }) => {
  try {
    await target.client.rest.git.deleteRef({ ...target.at, ref: `heads/${branch}` });
    return done();
  } catch (error) {
    // A missing branch is a 422 with these words; other 422s (a protected branch) and a missing repository are not.
    if (answered(error, 422) && /reference does not exist/i.test(error.message)) return repeated();
    throw error;
  }
};

const MAX_DESCRIPTION = 140;

export const setCommitStatus: Executor<'setCommitStatus'> = async (target, action) => {
  const { client, at } = target;
  const { sha, context, state } = action;
  const description = action.description.slice(0, MAX_DESCRIPTION);
  if (target.context.mayHaveHappened) {
    const { data } = await client.rest.repos.getCombinedStatusForRef({ ...at, ref: sha, per_page: 100 });
    const found = data.statuses.find((status) => status.context === context);
    if (found?.state === state && found.description === description) return repeated({ sha });
  }
  const link = action.targetUrl === null ? {} : { target_url: action.targetUrl };
  await client.rest.repos.createCommitStatus({ ...at, sha, context, state, description, ...link });
  return done({ sha });
};
