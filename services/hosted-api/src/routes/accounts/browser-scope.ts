import { AppError } from '@pipeline/domain';
import { findMemberScope, type OrgScope, type Store, tenantIdOf } from '@pipeline/store';
import type { SessionIdentity } from '../../accounts/browser-sessions.ts';

/**
 * Returns what the user may read in an organisation, from the primary for every request.
 * @throws AppError NOT_FOUND for an unknown organisation and for one of others: the answers do not differ.
 */
export async function scopeIn(store: Store, { account }: SessionIdentity, org: string): Promise<OrgScope> {
  const tenantId = await tenantIdOf(store.db, org);
  const scope = tenantId === null ? null : await findMemberScope(store.db, tenantId, account.id);
  if (scope === null) throw new AppError('NOT_FOUND', 'There is no such organisation, or you are not a member of it');
  return scope;
}
