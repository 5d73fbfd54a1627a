import { lockMemberships } from '@pipeline/store';
import { type Admin, notFound } from '../context/admin.ts';
import type { Engine } from '../context/context.ts';

interface Owner {
  tenantId: number;
  userId: number;
  email: string;
}

/**
 * An owner as administrator of their own organisation. Each action locks the memberships and checks the role in its
 * transaction, so an owner who loses the role concurrently changes nothing more. Its use cases throw AppError NOT_FOUND
 * for all others.
 */
export const asOwner = (engine: Engine, { tenantId, userId, email }: Owner): Admin => ({
  engine,
  actor: email,
  actorType: 'user',
  reason: 'by an owner, in the browser',
  async authorize(tx) {
    const members = await lockMemberships(tx, tenantId);
    if (!members.some(({ user_id, role }) => user_id === userId && role === 'owner'))
      notFound('Only owners of the organisation change its members');
  },
});
