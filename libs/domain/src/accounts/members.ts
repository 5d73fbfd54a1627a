/**
 * Read access of an organisation's members. Owners and admins can read every enabled repo, members those granted to
 * them. Owners differ from admins only in user management: the last owner cannot be removed.
 */
export const ROLES = ['owner', 'admin', 'member'] as const;

export type Role = (typeof ROLES)[number];

/**
 * The granted repos that a role can read.
 * @returns null = every enabled repo of the organisation. An unknown role can read the granted ones.
 */
export const reachOfRole = (role: Role, granted: readonly number[]): readonly number[] | null =>
  role === 'owner' || role === 'admin' ? null : granted;
