import type { ErrorClass } from './error-classes.ts';

/** Explanation of a block reason: complete sentences, plain text without Markdown. */
interface BlockInfo {
  /** The class of the reason; three repetitions of an error make any block permanent. */
  classification: ErrorClass;
  /** Sentence about what happened. */
  sentence: string;
  /** Sentence about what would resolve it. */
  remedy: string;
}

/**
 * The taxonomy of block reasons (interface: Blocked issue entry; the set is open on the wire). A reason that needs a
 * person's judgement about the code has the class `unknown`: neither waiting nor a setting resolves it.
 */
export const BLOCK_REASONS = {
  ci_hard_failure: {
    classification: 'unknown',
    sentence: 'The checks of the pull request fail.',
    remedy: 'Fix the branch or the failing checks, then unblock the issue.',
  },
  ci_timeout: {
    classification: 'unknown',
    sentence: 'The checks of the pull request did not end in time, or there are none.',
    remedy:
      'See to it that they run and unblock the issue; it goes on by itself when they are green. Without any check, set checks: none for the repository or allow the merge once.',
  },
  merge_conflict: {
    classification: 'unknown',
    sentence: 'The branch conflicts with the default branch and could not be brought up to date.',
    remedy: 'Resolve the conflict on the branch, then unblock the issue.',
  },
  build_failure: {
    classification: 'unknown',
    sentence: 'The project does not build with the change.',
    remedy: 'Fix the build on the branch, or describe in a comment what the agent should change, then unblock.',
  },
  test_failure: {
    classification: 'unknown',
    sentence: 'Tests fail with the change.',
    remedy: 'Fix the tests or the code on the branch, or describe the expected behaviour in a comment, then unblock.',
  },
  review_rejected: {
    classification: 'unknown',
    sentence: 'The reviewer rejected the change repeatedly.',
    remedy:
      'Read the review, state the requirements in a comment, then unblock the issue or reimplement it with /svc:reimplement. Move it to human-review-ready to decide by a review of your own.',
  },
  dependency_open: {
    classification: 'unknown',
    sentence: 'The issue depends on other open issues.',
    remedy: 'Complete the issues it depends on; it then continues automatically. Unblock it to continue without them.',
  },
  quota_exceeded: {
    classification: 'quota',
    sentence: 'A limit of the model provider or of the version-control host is exhausted.',
    remedy: 'Wait until the limit resets, or raise it; the work then continues.',
  },
  budget_exceeded: {
    classification: 'quota',
    sentence: 'The budget for this work is exhausted.',
    remedy: 'Raise the budget or wait for its next period; the work then continues.',
  },
  permission_denied: {
    classification: 'permanent',
    sentence: 'A required permission was denied to the pipeline.',
    remedy: 'Grant the missing permission or renew the credentials, then retry.',
  },
  protected_path: {
    classification: 'permanent',
    sentence: 'The change touches files that agents may not change.',
    remedy: 'Make this part of the change manually or allow the path, then retry.',
  },
  missing_context: {
    classification: 'unknown',
    sentence: 'The issue lacks information that is required to continue.',
    remedy: 'Add the missing information to the issue or in a comment, then retry.',
  },
  agent_timeout: {
    classification: 'transient',
    sentence: 'The agent did not finish in time or its worker was lost.',
    remedy: 'Retry; if it happens again, split the issue or check the worker.',
  },
  no_progress: {
    classification: 'unknown',
    sentence: 'The agent made no progress.',
    remedy: 'Reduce or clarify the issue, then retry.',
  },
  round_limit: {
    classification: 'unknown',
    sentence: 'A step was repeated as often as the repository allows, without progress.',
    remedy:
      'Read the reports of the last rounds, state in a comment what is missing, then unblock the issue or reimplement it with /svc:reimplement.',
  },
  max_turns: {
    classification: 'unknown',
    sentence: 'The agent reached its turn limit before it was done.',
    remedy: 'Split the issue or raise the turn limit, then retry.',
  },
  pr_closed: {
    classification: 'unknown',
    sentence: 'The pull request was closed without being merged.',
    remedy: 'Reopen the pull request and unblock, reimplement the issue with /svc:reimplement, or cancel it.',
  },
  service_unavailable: {
    classification: 'transient',
    sentence: 'A service that the work requires did not respond.',
    remedy: 'Wait until the service is back, then retry.',
  },
  invalid_config: {
    classification: 'permanent',
    sentence: 'The configuration is not valid.',
    remedy: 'Correct the configuration, then retry.',
  },
  unknown: {
    classification: 'unknown',
    sentence: 'The work failed for an unknown reason.',
    remedy: 'Fix the cause of the last error, then retry.',
  },
} as const satisfies Record<string, BlockInfo>;

export type BlockReason = keyof typeof BLOCK_REASONS;

export const isBlockReason = (value: unknown): value is BlockReason =>
  typeof value === 'string' && Object.hasOwn(BLOCK_REASONS, value);

/** The explanation of a stored reason; an unknown code, or none, is explained as `unknown`. */
export const describeBlock = (reason: string | null): BlockInfo =>
  BLOCK_REASONS[isBlockReason(reason) ? reason : 'unknown'];
