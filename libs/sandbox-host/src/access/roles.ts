import { forbidden, notFound } from '../http/failure.ts';
import type { RepoRecord, Role } from '../state/model.ts';

const RANK = { none: 0, read: 1, triage: 2, write: 3, admin: 4 } as const;

/** The owner is an admin; every user may read a public repository. */
export function roleOf(repo: RepoRecord, login: string): Role | 'none' {
  const key = login.toLowerCase();
  if (key === repo.owner.toLowerCase()) return 'admin';
  return repo.collaborators[key] ?? (repo.private ? 'none' : 'read');
}

export const allows = (repo: RepoRecord, login: string, needed: Role): boolean =>
  RANK[roleOf(repo, login)] >= RANK[needed];

/** @throws Failure 404 when the repo is hidden from them, 403 when they see it but may not do this. */
export function requireRole(repo: RepoRecord, login: string, needed: Role): void {
  if (!allows(repo, login, 'read')) throw notFound();
  if (!allows(repo, login, needed)) throw forbidden();
}

/** GitHub's `author_association`. */
export function association(repo: RepoRecord, login: string): string {
  if (login.toLowerCase() === repo.owner.toLowerCase()) return 'OWNER';
  return roleOf(repo, login) === 'none' || !(login.toLowerCase() in repo.collaborators) ? 'NONE' : 'COLLABORATOR';
}
