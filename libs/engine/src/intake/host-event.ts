import type { HostEvent } from '@pipeline/domain';
import { applyChecksEvent } from './checks-event.ts';
import { applyCommentEvent } from './comment-event.ts';
import type { Intake } from './intake-context.ts';
import { applyIssueEvent } from './issue-event.ts';
import { applyPullRequestEvent } from './pull-request-event.ts';
import { applyReviewEvent } from './review-event.ts';

/**
 * Handles a host event from a webhook or a poll. The host is queried before the transaction begins, never inside.
 * Events of the pipeline's own identity change nothing, except for pushes and checks.
 */
export async function applyHostEvent(intake: Intake, event: HostEvent): Promise<void> {
  if (event.sender !== null && event.sender === (await intake.host.login()) && !isFact(event)) return;
  switch (event.kind) {
    case 'issue':
      await applyIssueEvent(intake, event);
      return;
    case 'comment':
      return applyCommentEvent(intake, event);
    case 'pull-request':
      await applyPullRequestEvent(intake, event);
      return;
    case 'review':
      return applyReviewEvent(intake, event);
    case 'checks':
      return applyChecksEvent(intake, event);
    case 'repositories':
      return;
  }
}

/** Workers push with it, and where it is a person's identity, CI may report with it. */
const isFact = (event: HostEvent): boolean =>
  event.kind === 'checks' || (event.kind === 'pull-request' && event.action === 'synchronize');
