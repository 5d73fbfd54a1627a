import type { TaskType } from '../task-types.ts';
import type { RepoRef } from '../vcs/host.ts';

/** Permissions on one repo, in the host's terms. */
export type RepoPermissions = Partial<
  Record<'contents' | 'issues' | 'metadata' | 'pull_requests' | 'statuses', 'read' | 'write'>
>;

/**
 * Permissions of a task's agent in its repo: it reads the code, pushes if its work is a branch, and reads the pull
 * request if its work is about one. The payload has the issue. Only the pipeline writes issues, pull requests and
 * statuses; no one writes workflow files.
 */
export function permissionsFor(taskType: TaskType): RepoPermissions {
  const code = { contents: taskType === 'develop' ? 'write' : 'read', metadata: 'read' } as const;
  const isAboutPull = taskType === 'review' || taskType === 'merge';
  return isAboutPull ? { ...code, pull_requests: 'read' } : code;
}

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
