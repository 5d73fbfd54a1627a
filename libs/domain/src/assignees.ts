/**
 * The person that an issue is assigned to: the first of the host's assignees that is not one of the pipeline's own
 * identities. Logins are compared without regard to case. null = nobody.
 * @param own logins of the pipeline and its workers.
 */
export function humanAssignee(assignees: readonly string[], own: readonly string[]): string | null {
  const ours = new Set(own.map((login) => login.toLowerCase()));
  return assignees.find((login) => !ours.has(login.toLowerCase())) ?? null;
}
