/**
 * What a member of an organisation may see. Owners and admins reach every enabled repo of it, members those that were
 * granted to them. Owners differ from admins only for people: somebody has to be the last to leave.
 */
export const ROLES = ['owner', 'admin', 'member'] as const;

export type Role = (typeof ROLES)[number];

/**
 * The repos that a role reaches among those granted.
 * @returns null = every enabled repo of the organisation. A role that is not known reaches what was granted.
 */
export const reachOfRole = (role: Role, granted: readonly number[]): readonly number[] | null =>
  role === 'owner' || role === 'admin' ? null : granted;
