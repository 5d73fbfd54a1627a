/** The roles of members, as choices. */
export const ROLES = [
  { value: 'member', label: 'Member: reads granted repositories' },
  { value: 'admin', label: 'Admin: reads all repositories' },
  { value: 'owner', label: 'Owner: reads all, changes members' },
] as const;
