import { endsWithMarker, type HostEvent } from '@pipeline/domain';
import { applyChecksEvent } from './checks-event.ts';
import { applyCommentEvent } from './comment-event.ts';
import type { Intake } from './intake-context.ts';
import { applyIssueEvent, readNow } from './issue-event.ts';
import { applyPullRequestEvent } from './pull-request-event.ts';
import { applyReviewEvent } from './review-event.ts';

/**
 * Handles a host event from a webhook or a poll. The host is queried before the transaction begins, never inside.
 * Events of the pipeline's own identity change nothing, except for pushes, checks, and what a person does with it.
 */
export async function applyHostEvent(intake: Intake, given: HostEvent): Promise<void> {
  const isOwn = given.sender !== null && given.sender === (await intake.host.login()) && !isFact(given);
  const event = isOwn ? await ofPerson(intake, given) : given;
  switch (event?.kind) {
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
  }
}

/** Workers push with it, and where it is a person's identity, CI may report with it. */
const isFact = (event: HostEvent): boolean =>
  event.kind === 'checks' || (event.kind === 'pull-request' && event.action === 'synchronize');

/**
 * The event as the act of the person whose account the pipeline uses; null = the pipeline did it, or a poll will show
 * it. Texts of the pipeline end with a marker. Labels and states have none: the issue is read and handled like a poll,
 * which applies only what differs from all that the pipeline has written.
 */
async function ofPerson(intake: Intake, event: HostEvent): Promise<HostEvent | null> {
  if (!(await intake.host.isPerson())) return null;
  switch (event.kind) {
    case 'comment':
      return endsWithMarker(event.comment.body) ? null : event;
    case 'review':
      // Only people dismiss reviews.
      return event.review.verdict !== 'dismissed' && endsWithMarker(event.review.body) ? null : event;
    case 'issue':
      return readNow(intake, event);
    default:
      return null;
  }
}
