/**
 * Returns the person an issue is assigned to: the first of the host's assignees that is not an identity of the
 * pipeline. Logins are compared case-insensitively. null = no person.
 * @param own logins of the pipeline and its workers.
 */
export function humanAssignee(assignees: readonly string[], own: readonly string[]): string | null {
  const ours = new Set(own.map((login) => login.toLowerCase()));
  return assignees.find((login) => !ours.has(login.toLowerCase())) ?? null;
}
