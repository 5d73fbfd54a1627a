import type { HostEvent } from '@pipeline/domain';
import { takeComment } from './comment.ts';
import type { Intake } from './intake-context.ts';
import { takeIssue } from './issue.ts';
import { takePullRequest } from './pull-request.ts';
import { takeReview } from './review.ts';

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
