import { grantRepo, lockMemberships, revokeGrant } from '@pipeline/store';
import { requireUser } from '../accounts/users.ts';
import { type Admin, recordRepoAction, refuse } from '../context/admin.ts';
import { inTenant } from '../context/context.ts';
import { requireRepo } from './repos.ts';

interface Grant {
  org: string | null;
  email: string;
  repo: string;
}

/**
 * Grants or revokes a member's access to a repo. @throws AppError NOT_FOUND; INVALID_INPUT for a user who is no member.
 */
export async function changeGrant(admin: Admin, grant: Grant, granted: boolean) {
  const repo = await requireRepo(admin, grant.repo, grant.org);
  return inTenant(admin.engine, repo.tenant_id, async (unit) => {
    const user = await requireUser(unit.tx, grant.email);
    const members = await lockMemberships(unit.tx, repo.tenant_id);
    const role = members.find((member) => member.user_id === user.id)?.role;
    if (!role) return refuse(`${user.email} is not a member of ${repo.org}: run pipeline admin member add first`);
    if (granted) await grantRepo(unit.tx, repo.tenant_id, user.id, repo.id);
    const changed = granted || (await revokeGrant(unit.tx, repo.tenant_id, user.id, repo.id));
    const action = granted ? 'grant-add' : 'grant-remove';
    if (changed) recordRepoAction(unit, admin, repo, { action, user: user.email });
    const reachesAll = role !== 'member';
    return { org: repo.org, email: user.email, repo: `${repo.owner}/${repo.name}`, granted, changed, role, reachesAll };
  });
}
