import type { TaskType } from '../task-types.ts';
import type { RepoRef } from '../vcs/host.ts';

/** Rights on one repo, in the host's words. */
export type RepoPermissions = Partial<
  Record<'contents' | 'issues' | 'metadata' | 'pull_requests' | 'statuses', 'read' | 'write'>
>;

const READ: RepoPermissions = { contents: 'read', issues: 'read', metadata: 'read', pull_requests: 'read' };

/**
 * What the agent of a task may do in its repo: read it, and push where its work is a branch. Issues and pull requests
 * are written by the pipeline alone, workflow files by nobody.
 */
export const permissionsFor = (taskType: TaskType): RepoPermissions =>
  taskType === 'develop' ? { ...READ, contents: 'write' } : READ;

/** A short-lived right to one repo, for git and for the host's API. */
export interface RepoAccess {
  username: string;
  token: string;
  /** ISO 8601. */
  expiresAt: string;
  permissions: RepoPermissions;
}

export interface RepoAccessRequest {
  repo: RepoRef;
  /** Of the host's app; null = not known, the host is asked. */
  installationId: number | null;
  permissions: RepoPermissions;
}

/** Whoever can make such rights. It throws for what the host refuses. */
export interface RepoAccessIssuer {
  accessTo(request: RepoAccessRequest): Promise<RepoAccess>;
}
