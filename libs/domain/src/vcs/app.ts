/** Permissions that the services need where their GitHub App is installed, and nothing more. */
export const APP_PERMISSIONS = {
  /** Logs of failed jobs. */
  actions: 'read',
  /** Check runs of a commit, and another run of one that keeps failing. */
  checks: 'write',
  /** Merges, deletion of merged branches, pushes of the agents. */
  contents: 'write',
  /** Comments, labels, issues found by agents. */
  issues: 'write',
  metadata: 'read',
  /** Pull requests, reviews, updates of a branch. */
  pull_requests: 'write',
  /** Commit statuses of the pipeline. */
  statuses: 'write',
} as const satisfies Readonly<Record<string, 'read' | 'write'>>;

/**
 * Webhook events that the services handle. `installation` and `installation_repositories` are not in the list: the host
 * sends them to every app and refuses a subscription to them.
 */
export const APP_EVENTS = [
  'check_run',
  'check_suite',
  'issue_comment',
  'issues',
  'pull_request',
  'pull_request_review',
  'repository',
  'status',
] as const;
