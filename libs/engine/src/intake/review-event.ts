import { awaitsPullRequest, type HostEvent, type HostReview, isStaleReview } from '@pipeline/domain';
import {
  findPullRequest,
  type IssueRow,
  insertRemarks,
  issueById,
  lockIssue,
  setApproval,
  takeRemark,
} from '@pipeline/store';
import { inTenant, type TransactionContext } from '../context/context.ts';
import type { Actor, IssueContext } from '../context/issue-context.ts';
import { loadIssueContext } from '../context/load-issue.ts';
import { recordPipelineEvent } from '../records/records.ts';
import type { Intake } from '../repos/repo-address.ts';
import { issueFactsOf } from '../workflow/decision.ts';
import { moveBy } from '../workflow/move.ts';
import { revokeApproval } from '../workflow/revoke-approval.ts';
import { mayActAsPerson } from './person.ts';

type ReviewEvent = Extract<HostEvent, { kind: 'review' }>;

/** Verdicts that may change something; the others are discussion. */
const VERDICTS: readonly HostReview['verdict'][] = ['approved', 'changes_requested', 'dismissed'];

/**
 * Applies a person's review of the pipeline's own pull request. Only reviews by people with write permission are
 * accepted, and an approval only for its commit. Reviews of other pull requests move nothing.
 */
export async function applyReviewEvent(intake: Intake, event: ReviewEvent): Promise<void> {
  const { engine, repo } = intake;
  const { review } = event;
  if (review.author === null || !VERDICTS.includes(review.verdict)) return;
  const pr = await findPullRequest(engine.store.db, repo.tenant_id, repo.id, event.prNumber);
  const issueId = pr?.issue_id;
  if (!pr?.agent_authored || issueId == null) return;
  if (review.verdict !== 'dismissed') {
    const about = await issueById(engine.store.db, repo.tenant_id, issueId);
    if (!about || !(await mayActAsPerson(intake, review.author, { issue: about, now: true }))) return;
  }
  await inTenant(engine, repo.tenant_id, async (unit) => {
    const issue = await lockIssue(unit.tx, unit.tenantId, issueId);
    const first = await takeRemark(unit.tx, unit.tenantId, repo.id, { kind: 'review', hostId: review.id });
    if (!issue) return;
    // A dismissal has the id of the review; if it arrives before the review, the review is void.
    if (review.verdict === 'dismissed') await onDismissed(unit, issue, event);
    else if (first) await applyReview(unit, issue, event);
  });
}

async function applyReview(unit: TransactionContext, issue: IssueRow, event: ReviewEvent): Promise<void> {
  const { review, prNumber } = event;
  const actor: Actor = { type: 'operator', id: review.author, agent: null, reason: 'review on the host' };
  const payload = { prNumber, verdict: review.verdict, headSha: review.commitSha };
  recordPipelineEvent(unit, { issue }, { eventType: 'review_submitted', agent: actor.type, payload });
  const subject = await loadIssueContext(unit, issue);
  if (subject.pr?.number !== prNumber) return;
  if (review.verdict === 'approved') return onApproved(unit, subject, review, actor);
  if (!awaitsPullRequest(issue.state, issue.plan_status))
    return setApproval(unit.tx, unit.tenantId, subject.pr.id, null);
  const comment = { kind: 'review' as const, author: review.author ?? 'unknown', body: review.body };
  await insertRemarks(unit.tx, unit.tenantId, issue.id, [comment]);
  await moveBy(unit, subject, { cause: { trigger: 'review-changes-requested' }, actor });
}

/** An approval of a commit that is not the head is only recorded as an event. */
async function onApproved(
  unit: TransactionContext,
  subject: IssueContext,
  review: HostReview,
  actor: Actor,
): Promise<void> {
  const { state, plan_status: planStatus } = subject.issue;
  if (state !== 'human-review-ready' || !awaitsPullRequest(state, planStatus)) return;
  const cause = { trigger: 'review-approved' as const, headSha: review.commitSha };
  if (isStaleReview(issueFactsOf(subject), cause)) return;
  await moveBy(unit, subject, { cause, actor, reviewId: review.id });
}

/** Revokes the approval of a dismissed review. */
async function onDismissed(
  unit: TransactionContext,
  issue: IssueRow,
  { review, prNumber, sender }: ReviewEvent,
): Promise<void> {
  const subject = await loadIssueContext(unit, issue);
  const { pr } = subject;
  if (pr?.number !== prNumber || pr.approved_review_id !== review.id) return;
  const reason = 'the approving review was dismissed';
  await revokeApproval(unit, subject, { type: 'operator', id: sender, agent: null, reason });
}
