import { randomBytes } from 'node:crypto';
import { displayText } from '@pipeline/domain';
import {
  type Account,
  findUser,
  insertAuditEntry,
  insertInvitation,
  insertMembership,
  insertNewUser,
  inTransaction,
  invitationsOf,
  lockMemberships,
  type OpenInvitation,
  openInvitation,
  revokeInvitationsOf,
  revokeOpenInvitation,
  type Store,
  storeTime,
  type TenantRow,
  type Tx,
  takeInvitation,
} from '@pipeline/store';
import { type Admin, administer, audit, notFound, refuse } from '../context/admin.ts';
import { hashToken } from '../context/token-hash.ts';
import { requireEmail } from './emails.ts';
import { requireRole } from './members.ts';
import { requireOrg } from './orgs.ts';
import { hashPassword, PASSWORD_LENGTH } from './passwords.ts';

const MAX_DAYS = 30;
const DAY_MS = 86_400_000;
const MAX_NAME = 100;
/** Open invitations of an organisation. */
const MAX_OPEN = 100;

interface Invitation {
  org: string;
  email: string;
  role: string;
  /** Days for which it can be accepted, 1 to 30. */
  days: number;
}

/**
 * Invites a person to an organisation. The token is returned here only: the store has its SHA-256. Each holder of the
 * link can accept it, once. Open invitations of the same address to the organisation are revoked: of several links, the
 * person could use the one with another role than the last one that was meant.
 * @throws AppError NOT_FOUND; INVALID_INPUT for an invalid address, role or number of days, or too many open
 * invitations.
 */
export async function inviteMember(admin: Admin, { org: orgId, email, role: wanted, days }: Invitation) {
  const role = requireRole(wanted);
  requireEmail(email);
  if (!Number.isInteger(days) || days < 1 || days > MAX_DAYS) refuse(`--days must be 1 to ${MAX_DAYS}, got ${days}`);
  const token = randomBytes(32).toString('base64url');
  const id = `inv_${randomBytes(9).toString('base64url')}`;
  return administer(admin, async (tx) => {
    const org = await requireOrg(tx, orgId);
    await lockMemberships(tx, org.id);
    const replaced = await replaceInvitations(tx, admin, { org, email, id });
    const open = (await invitationsOf(tx, org.id)).filter((row) => stateOf(row) === 'open');
    if (open.length >= MAX_OPEN) refuse(`${orgId} has ${MAX_OPEN} open invitations: revoke one first`);
    const expiresAt = new Date((await storeTime(tx)).getTime() + days * DAY_MS).toISOString();
    const invitation = {
      tenantId: org.id,
      id,
      tokenHash: hashToken(token),
      email,
      role,
      invitedBy: admin.actor,
      expiresAt,
    };
    await insertInvitation(tx, invitation);
    await audit(tx, admin, {
      action: 'invitation-create',
      subject: subjectOf(id, orgId),
      details: { email, role, expiresAt },
    });
    return { id, token, org: org.external_id, email, role, expiresAt, replaced };
  });
}

/** @returns whether there was an open invitation of the address. */
async function replaceInvitations(
  tx: Tx,
  admin: Admin,
  { org, email, id }: { org: TenantRow; email: string; id: string },
): Promise<boolean> {
  const revoked = await revokeInvitationsOf(tx, org.id, email);
  for (const old of revoked) {
    const subject = subjectOf(old, org.external_id);
    await audit(tx, admin, { action: 'invitation-revoke', subject, details: { email, replacedBy: id } });
  }
  return revoked.length > 0;
}

/** The invitations of an organisation, newest first. @throws AppError NOT_FOUND. */
export async function listInvitations({ engine }: Admin, orgId: string) {
  const org = await requireOrg(engine.store.db, orgId);
  const rows = await invitationsOf(engine.store.db, org.id);
  return rows.map((row) => ({
    id: row.id,
    org: org.external_id,
    email: row.email,
    role: row.role,
    state: stateOf(row),
    invitedBy: row.invited_by,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
  }));
}

function stateOf(row: Awaited<ReturnType<typeof invitationsOf>>[number]) {
  if (row.accepted_at !== null) return 'accepted' as const;
  if (row.revoked_at !== null) return 'revoked' as const;
  return row.expired ? ('expired' as const) : ('open' as const);
}

/** @throws AppError NOT_FOUND when the organisation has no such invitation that could be accepted. */
export function revokeInvitation(admin: Admin, { org: orgId, id }: { org: string; id: string }) {
  return administer(admin, async (tx) => {
    const org = await requireOrg(tx, orgId);
    const row = await revokeOpenInvitation(tx, org.id, id);
    if (!row) return notFound(`${orgId} has no open invitation ${id}; the list of its invitations has all`);
    await audit(tx, admin, {
      action: 'invitation-revoke',
      subject: subjectOf(id, orgId),
      details: { email: row.email },
    });
    return { id, org: org.external_id, email: row.email, revoked: true as const };
  });
}

/** The open invitation of a link; undefined for any other link, whatever the reason. One indexed read. */
export const findInvitation = (store: Store, token: string): Promise<OpenInvitation | undefined> =>
  openInvitation(store.db, hashToken(token));

/**
 * Makes a user a member. An existing member keeps the role.
 * @returns false when the invitation cannot be used any more.
 */
export const acceptInvitation = (store: Store, invitation: OpenInvitation, { id, email }: Account): Promise<boolean> =>
  inTransaction(store.db, (tx) => join(tx, invitation, { id, email, isNew: false }));

/** @throws AppError INVALID_INPUT for a name or a password that cannot be used, before anything is stored. */
export async function acceptAsNewUser(
  store: Store,
  invitation: OpenInvitation,
  { name, password }: { name: string; password: string },
): Promise<number | 'used' | 'exists'> {
  const shown = displayText(name, MAX_NAME).trim();
  if (shown === '') refuse('Enter your name');
  const { min, max } = PASSWORD_LENGTH;
  if (password.length < min || password.length > max) refuse(`The password must have ${min} to ${max} characters`);
  // Before the hash, which takes its time on purpose.
  if (await findUser(store.db, invitation.email)) return 'exists';
  const passwordHash = await hashPassword(password);
  return inTransaction(store.db, async (tx) => {
    const user = await insertNewUser(tx, { email: invitation.email, name: shown, passwordHash });
    if (!user) return 'exists';
    if (await join(tx, invitation, { id: user.id, email: invitation.email, isNew: true })) return user.id;
    throw new InvitationUsed();
  }).catch((error: unknown) => {
    if (error instanceof InvitationUsed) return 'used';
    throw error;
  });
}

/** Undoes the new user. */
class InvitationUsed extends Error {}

interface Joiner {
  id: number;
  email: string;
  isNew: boolean;
}

async function join(tx: Tx, invitation: OpenInvitation, user: Joiner): Promise<boolean> {
  if (!(await takeInvitation(tx, invitation, user.id))) return false;
  const { tenantId, id, org, email, role } = invitation;
  const added = await insertMembership(tx, tenantId, user.id, role);
  await insertAuditEntry(tx, {
    actorType: 'user',
    actorId: user.email,
    action: 'invitation-accept',
    subject: subjectOf(id, org),
    reason: 'accepted by link',
    details: { email, user: user.id, newUser: user.isNew, role: added ? role : null },
  });
  return true;
}

const subjectOf = (id: string, org: string): string => `invitation ${id} of org ${org}`;
