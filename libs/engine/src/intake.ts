import type { HostEvent, VcsHost } from '@pipeline/domain';
import type { RepoRow } from '@pipeline/store';
import type { Engine } from './context.ts';
import { takeComment } from './intake-comment.ts';
import { takeIssue } from './intake-issue.ts';
import { takePullRequest } from './intake-pull-request.ts';
import { takeReview } from './intake-review.ts';

/** Context of a host event: the engine, the repo, and that repo's host, which may be queried. */
export interface Intake {
  engine: Engine;
  repo: RepoRow;
  host: VcsHost;
}

/**
 * Handles a host event from a webhook or a poll. The host is queried before the transaction begins, never inside.
 * Events of the pipeline's own identity change nothing, except for a push: workers push with it, the pipeline itself
 * never does.
 */
export async function takeHostEvent(intake: Intake, event: HostEvent): Promise<void> {
  if (event.sender !== null && event.sender === (await intake.host.login()) && !isPush(event)) return;
  switch (event.kind) {
    case 'issue':
      await takeIssue(intake, event);
      return;
    case 'comment':
      return takeComment(intake, event);
    case 'pull-request':
      await takePullRequest(intake, event);
      return;
    case 'review':
      return takeReview(intake, event);
    case 'checks':
    case 'repositories':
      return;
  }
}

const isPush = (event: HostEvent): boolean => event.kind === 'pull-request' && event.action === 'synchronize';
