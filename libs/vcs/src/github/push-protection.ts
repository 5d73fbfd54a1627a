import type { PushProtection, RepoRef } from '@pipeline/domain';
import type { Client } from './client.ts';
import { answered } from './errors.ts';

/** Rules of a ruleset under which nobody pushes to the branch without a pull request, or at all. */
const RESTRICTING = ['pull_request', 'update', 'merge_queue'];

/**
 * What keeps a writer from pushing straight to a branch: rules of rulesets, which every reader may read, and classic branch
 * protection, which takes the administration permission. Without that permission only "no protection at all" can be told
 * from the branch itself.
 */
export async function readPushProtection(client: Client, repo: RepoRef, branch: string): Promise<PushProtection> {
  const at = { owner: repo.owner, repo: repo.name, branch };
  const rules = (await restrictingRules(client, at)).map((rule) => `ruleset rule ${rule}`);
  if (rules.length > 0) return { restricted: true, by: rules };
  const classic = await classicProtection(client, at);
  if (classic !== null) return { restricted: classic.length > 0, by: classic };
  const { data } = await client.rest.repos.getBranch(at);
  return { restricted: data.protected ? null : false, by: [] };
}

type At = { owner: string; repo: string; branch: string };

async function restrictingRules(client: Client, at: At): Promise<string[]> {
  try {
    const found = await client.paginate(client.rest.repos.getBranchRules, { ...at, per_page: 100 });
    return [...new Set(found.map(({ type }) => type as string).filter((type) => RESTRICTING.includes(type)))];
  } catch (error) {
    // A plan or a server without rulesets.
    if (isHidden(error)) return [];
    throw error;
  }
}

/** Null when this identity may not read it. */
async function classicProtection(client: Client, at: At): Promise<string[] | null> {
  try {
    const { data } = await client.rest.repos.getBranchProtection(at);
    return [
      ...(data.required_pull_request_reviews ? ['branch protection: pull request required'] : []),
      ...(data.restrictions ? ['branch protection: restricted pushers'] : []),
      ...(data.lock_branch?.enabled ? ['branch protection: locked'] : []),
    ];
  } catch (error) {
    if (answered(error, 404) && /branch not protected/i.test(error.message)) return [];
    if (isHidden(error)) return null;
    throw error;
  }
}

const isHidden = (error: unknown): boolean => answered(error, 403) || answered(error, 404);
