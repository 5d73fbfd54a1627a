import type { browserRoutes } from '@pipeline/contract';
import { AppError } from '@pipeline/domain';
import { admin, type Engine } from '@pipeline/engine';
import type { Authenticate, HandlersOf } from '@pipeline/http';
import { membersOf } from '@pipeline/store';
import type { SessionIdentity } from '../../accounts/browser-sessions.ts';
import { invitationPath } from '../../accounts/invitation-path.ts';
import { scopeIn } from './browser-scope.ts';

type Handlers = HandlersOf<typeof browserRoutes, { session: Authenticate<SessionIdentity> }>;
type Asked = { identity: SessionIdentity; query: { org: string } };

/** Members and invitations of an organisation: the use cases of administrators, with the rights of its owners. */
export function memberHandlers(engine: Engine) {
  const { store } = engine;
  const owner = async ({ identity, query }: Asked): Promise<{ actor: admin.Admin; tenantId: number }> => {
    const { tenantId, role } = await scopeIn(store, identity, query.org);
    if (role !== 'owner') throw new AppError('NOT_FOUND', 'Only owners of the organisation see its members');
    const { id: userId, email } = identity.account;
    return { actor: admin.asOwner(engine, { tenantId, userId, email }), tenantId };
  };

  return {
    browserMembers: async (asked) => {
      const { tenantId } = await owner(asked);
      const members = await membersOf(store.db, tenantId);
      const items = members.map(({ email, name, role, granted }) => ({
        email,
        name,
        role,
        repos: role === 'member' ? granted : null,
      }));
      return { status: 200, body: { items } };
    },
    browserChangeRole: async (asked) => {
      const { body, log } = asked;
      const { actor } = await owner(asked);
      const { org } = asked.query;
      const done = await ofMember(body.email, admin.changeRole(actor, { org, ...body }));
      log.info('role changed by an owner', { org, by: asked.identity.account.id, role: done.role });
      return { status: 200, body: { email: done.email, role: done.role, changed: done.changed } };
    },
    browserRemoveMember: async (asked) => {
      const { body, log } = asked;
      const { actor } = await owner(asked);
      const { org } = asked.query;
      const { email } = await ofMember(body.email, admin.removeMember(actor, { org, email: body.email }));
      log.info('member removed by an owner', { org, by: asked.identity.account.id });
      return { status: 200, body: { email, removed: true } };
    },
    browserInvitations: async (asked) => {
      const { actor } = await owner(asked);
      const all = await admin.listInvitations(actor, asked.query.org);
      const items = all.filter(({ state }) => state === 'open').map(({ org: _, state: __, ...item }) => item);
      return { status: 200, body: { items } };
    },
    browserInvite: async (asked) => {
      const { body, log } = asked;
      const { actor } = await owner(asked);
      const made = await admin.inviteMember(actor, { org: asked.query.org, ...body });
      const { id, token, email, role, expiresAt, replaced } = made;
      log.info('invitation created by an owner', { invitation: id, by: asked.identity.account.id });
      return { status: 200, body: { id, email, role, expiresAt, path: invitationPath(token), replaced } };
    },
    browserRevokeInvitation: async (asked) => {
      const { params, log } = asked;
      const { actor } = await owner(asked);
      const { id, revoked } = await admin.revokeInvitation(actor, { org: asked.query.org, id: params.id });
      log.info('invitation revoked by an owner', { invitation: id, by: asked.identity.account.id });
      return { status: 200, body: { id, revoked } };
    },
  } satisfies Partial<Handlers>;
}

/** The same answer for users of other organisations and for unknown ones: an owner learns of no accounts outside. */
const ofMember = <T>(email: string, work: Promise<T>): Promise<T> =>
  work.catch((error: unknown) => {
    if (error instanceof AppError && error.code === 'NOT_FOUND')
      throw new AppError('NOT_FOUND', `${email} is no member of the organisation`);
    throw error;
  });
