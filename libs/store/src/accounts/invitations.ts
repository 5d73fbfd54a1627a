import type { Role } from '@pipeline/domain';
import { type Selectable, sql } from 'kysely';
import { svcNow } from '../driver/clock.ts';
import type { DB } from '../driver/database.generated.ts';
import type { Db, Tx } from '../driver/database.ts';
import { fleetNote } from '../driver/fragments.ts';

export interface NewInvitation {
  tenantId: number;
  id: string;
  tokenHash: string;
  email: string;
  role: Role;
  invitedBy: string;
  /** ISO 8601. */
  expiresAt: string;
}

export type InvitationRow = Selectable<DB['invitations']> & { role: Role };

export async function insertInvitation(tx: Tx, invitation: NewInvitation): Promise<void> {
  await tx
    .insertInto('invitations')
    .values({
      tenant_id: invitation.tenantId,
      id: invitation.id,
      token_hash: invitation.tokenHash,
      email: invitation.email,
      role: invitation.role,
      invited_by: invitation.invitedBy,
      expires_at: invitation.expiresAt,
    })
    .execute();
}

/** An invitation that can be accepted now, with its organisation. */
export interface OpenInvitation {
  tenantId: number;
  id: string;
  org: string;
  orgName: string;
  email: string;
  role: Role;
}

/** @returns undefined for an unknown, used, revoked or expired token (index invitations_by_token). */
export const openInvitation = (fleet: Db, tokenHash: string): Promise<OpenInvitation | undefined> =>
  fleet
    .selectFrom('invitations as i')
    .modifyFront(fleetNote('the link names no organisation'))
    .innerJoin('tenants as t', 't.id', 'i.tenant_id')
    .select(['i.tenant_id as tenantId', 'i.id', 't.external_id as org', 't.name as orgName', 'i.email', 'i.role'])
    .where('i.token_hash', '=', tokenHash)
    .where('i.accepted_at', 'is', null)
    .where('i.revoked_at', 'is', null)
    .where('i.expires_at', '>', svcNow)
    .executeTakeFirst() as Promise<OpenInvitation | undefined>;

/** Uses an invitation, once. @returns false when it was used or revoked meanwhile, or has expired. */
export async function takeInvitation(
  tx: Tx,
  { tenantId, id }: Pick<OpenInvitation, 'tenantId' | 'id'>,
  userId: number,
): Promise<boolean> {
  const row = await tx
    .updateTable('invitations')
    .set({ accepted_at: svcNow, accepted_by: userId })
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .where('accepted_at', 'is', null)
    .where('revoked_at', 'is', null)
    .where('expires_at', '>', svcNow)
    .returning('id')
    .executeTakeFirst();
  return row !== undefined;
}

/** @returns the invitation; undefined when there is none of that id that could be accepted. */
export const revokeOpenInvitation = (tx: Tx, tenantId: number, id: string): Promise<InvitationRow | undefined> =>
  tx
    .updateTable('invitations')
    .set({ revoked_at: svcNow })
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .where('accepted_at', 'is', null)
    .where('revoked_at', 'is', null)
    .returningAll()
    .executeTakeFirst() as Promise<InvitationRow | undefined>;

/**
 * Revokes the open invitations of an address to an organisation. The caller holds the lock of its memberships, so that
 * of two concurrent invitations one stays open. @returns their ids.
 */
export async function revokeInvitationsOf(tx: Tx, tenantId: number, email: string): Promise<string[]> {
  const rows = await tx
    .updateTable('invitations')
    .set({ revoked_at: svcNow })
    .where('tenant_id', '=', tenantId)
    .where(sql<boolean>`lower(email) = lower(${email})`)
    .where('accepted_at', 'is', null)
    .where('revoked_at', 'is', null)
    .where('expires_at', '>', svcNow)
    .returning('id')
    .execute();
  return rows.map(({ id }) => id);
}

/** The newest invitations of an organisation, at most 1,000. */
export const invitationsOf = (db: Db, tenantId: number): Promise<(InvitationRow & { expired: boolean })[]> =>
  db
    .selectFrom('invitations')
    .selectAll()
    .select(sql<boolean>`expires_at <= svc_now()`.as('expired'))
    .where('tenant_id', '=', tenantId)
    .orderBy('created_at', 'desc')
    .orderBy('id')
    .limit(1_000)
    .execute() as Promise<(InvitationRow & { expired: boolean })[]>;

/** Revokes the open invitations that a user made. */
export async function revokeInvitationsBy(tx: Tx, tenantId: number, invitedBy: string): Promise<void> {
  await tx
    .updateTable('invitations')
    .set({ revoked_at: svcNow })
    .where('tenant_id', '=', tenantId)
    .where('invited_by', '=', invitedBy)
    .where('accepted_at', 'is', null)
    .where('revoked_at', 'is', null)
    .execute();
}
