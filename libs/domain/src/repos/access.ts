import type { TaskType } from '../task-types.ts';
import type { RepoRef } from '../vcs/host.ts';

/** Permissions on one repo, in the host's terms. */
export type RepoPermissions = Partial<
  Record<'contents' | 'issues' | 'metadata' | 'pull_requests' | 'statuses', 'read' | 'write'>
>;

const READ: RepoPermissions = { contents: 'read', issues: 'read', metadata: 'read', pull_requests: 'read' };

/**
 * Permissions of a task's agent in its repo: read, and push if its work is a branch. Only the pipeline writes issues
 * and pull requests; no one writes workflow files.
 */
export const permissionsFor = (taskType: TaskType): RepoPermissions =>
  taskType === 'develop' ? { ...READ, contents: 'write' } : READ;

/** Short-lived access to one repo, for git and for the host's API. */
export interface RepoAccess {
  username: string;
  token: string;
  /** ISO 8601. */
  expiresAt: string;
  permissions: RepoPermissions;
}

export interface RepoAccessRequest {
  repo: RepoRef;
  /** The installation of the host's app; null = unknown, the host is queried. */
  installationId: number | null;
  permissions: RepoPermissions;
}

/** Issues such access. Throws when the host refuses. */
export interface RepoAccessIssuer {
  accessTo(request: RepoAccessRequest): Promise<RepoAccess>;
}
