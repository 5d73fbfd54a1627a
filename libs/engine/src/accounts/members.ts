import { ROLES, type Role } from '@pipeline/domain';
import {
  deleteMembership,
  insertMembership,
  lockMemberships,
  membersOf,
  revokeInvitationsBy,
  setRole,
  type TenantRow,
  type Tx,
  type UserRow,
} from '@pipeline/store';
import { type Admin, administer, audit, notFound, refuse } from '../context/admin.ts';
import { requireOrg } from './orgs.ts';
import { requireUser } from './users.ts';

interface Membership {
  org: string;
  email: string;
}

/** @throws AppError NOT_FOUND; INVALID_INPUT for an unknown role, or a member. */
export async function addMember(admin: Admin, member: Membership & { role: string }) {
  const role = requireRole(member.role);
  return administer(admin, async (tx) => {
    const { org, user } = await found(tx, member);
    if (!(await insertMembership(tx, org.id, user.id, role))) {
      refuse(
        `${user.email} is already a member of ${org.external_id}; use pipeline admin member role to change the role`,
      );
    }
    await audit(tx, admin, { action: 'member-add', subject: subjectOf(org, user), details: { role } });
    return { org: org.external_id, email: user.email, role };
  });
}

/** @throws AppError NOT_FOUND; INVALID_INPUT for an unknown role, or when no owner would remain. */
export async function changeRole(admin: Admin, member: Membership & { role: string }) {
  const role = requireRole(member.role);
  return administer(admin, async (tx) => {
    const { org, user } = await found(tx, member);
    const before = await roleOf(tx, org, user);
    if (before === 'owner' && role !== 'owner') await requireOtherOwner(tx, org, user);
    if (before !== role) {
      await setRole(tx, org.id, user.id, role);
      if (before === 'owner') await revokeInvitationsBy(tx, org.id, user.email);
      await audit(tx, admin, { action: 'member-role', subject: subjectOf(org, user), details: { before, role } });
    }
    return { org: org.external_id, email: user.email, role, changed: before !== role };
  });
}

/**
 * Removes a user from an organisation, with all grants in it and the open invitations that the user made, by which they
 * could come back. The user's connections lose access to it with the next
 * request.
 * @throws AppError NOT_FOUND; INVALID_INPUT when no owner would remain.
 */
export function removeMember(admin: Admin, member: Membership) {
  return administer(admin, async (tx) => {
    const { org, user } = await found(tx, member);
    const role = await roleOf(tx, org, user);
    if (role === 'owner') await requireOtherOwner(tx, org, user);
    await deleteMembership(tx, org.id, user.id);
    await revokeInvitationsBy(tx, org.id, user.email);
    await audit(tx, admin, { action: 'member-remove', subject: subjectOf(org, user), details: { role } });
    return { org: org.external_id, email: user.email, removed: true };
  });
}

/** Repos that the members of an organisation can read; null = every enabled repo of it. @throws AppError NOT_FOUND. */
export async function listGrants({ engine }: Admin, orgId: string) {
  const org = await requireOrg(engine.store.db, orgId);
  const members = await membersOf(engine.store.db, org.id);
  return members.map(({ email, role, granted }) => ({
    org: org.external_id,
    email,
    role,
    repos: role === 'member' ? granted : null,
  }));
}

async function found(tx: Tx, { org, email }: Membership): Promise<{ org: TenantRow; user: UserRow }> {
  return { org: await requireOrg(tx, org), user: await requireUser(tx, email) };
}

const subjectOf = (org: TenantRow, user: UserRow): string => `member ${user.email} of org ${org.external_id}`;

/** @throws AppError INVALID_INPUT. */
export function requireRole(value: string): Role {
  return ROLES.find((role) => role === value) ?? refuse(`role must be one of ${ROLES.join(', ')}, got "${value}"`);
}

/** The role of a member; locks the memberships of the organisation. */
async function roleOf(tx: Tx, org: TenantRow, user: UserRow): Promise<Role> {
  const members = await lockMemberships(tx, org.id);
  const member = members.find(({ user_id }) => user_id === user.id);
  return member?.role ?? notFound(`${user.email} is no member of ${org.external_id}`);
}

async function requireOtherOwner(tx: Tx, org: TenantRow, user: UserRow): Promise<void> {
  const members = await lockMemberships(tx, org.id);
  if (members.some(({ user_id, role }) => role === 'owner' && user_id !== user.id)) return;
  refuse(`${user.email} is the last owner of ${org.external_id}: add another owner first`);
}
