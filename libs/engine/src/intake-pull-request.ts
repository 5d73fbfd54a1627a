import { type HostEvent, type HostPullRequest, isReviewable, linkedIssueNumber } from '@pipeline/domain';
import {
  findIssue,
  findPullRequest,
  type IssueRow,
  insertRemarks,
  lockIssue,
  type PullRequestRow,
  takeRemark,
  upsertPullRequest,
} from '@pipeline/store';
import { noteMerge } from './code-map.ts';
import { inTenant, type Unit } from './context.ts';
import type { Intake } from './intake.ts';
import { noteReverts } from './intake-reverts.ts';
import { moveBy } from './move.ts';
import { mayMissOurWrites } from './own-writes.ts';
import { recordPipelineEvent } from './records.ts';
import { type Actor, subjectOf } from './subject.ts';

type PullRequestEvent = Extract<HostEvent, { kind: 'pull-request' }>;
type ReviewEvent = Extract<HostEvent, { kind: 'review' }>;

/**
 * Takes up a pull request of an issue: a merge ends the issue, a close without merge stops it. What the host said before
 * what is known already counts no more.
 * @returns later = what was seen may be older than our own writes under way; it must be looked at again after them.
 */
export async function takePullRequest(intake: Intake, event: PullRequestEvent): Promise<'taken' | 'later'> {
  await noteReverts(intake, event.pullRequest);
  const issueId = await linkedIssue(intake, event.pullRequest);
  if (issueId === null) return 'taken';
  const ours = event.pullRequest.author === (await intake.host.login());
  return inTenant(intake.engine, intake.repo.tenant_id, async (unit) => {
    const issue = await lockIssue(unit.tx, unit.tenantId, issueId);
    if (!issue) return 'taken';
    const link = { repoId: intake.repo.id, issueId, agentAuthored: ours };
    const before = await findPullRequest(unit.tx, unit.tenantId, intake.repo.id, event.pullRequest.number);
    if (before && isOutdated(event.pullRequest, before)) return 'taken';
    if (before && (await mayBeOlder(unit, issue, event))) return 'later';
    await upsertPullRequest(unit.tx, unit.tenantId, event.pullRequest, link);
    unit.relisted.changed.add(issue.id);
    const actor: Actor = { type: 'operator', id: event.sender, agent: null, reason: 'on the host' };
    await followPullRequest(unit, issue, { before: before?.state ?? null, now: event.pullRequest }, actor);
    return 'taken';
  });
}

/** Hosts tell late and out of order, and stamp by the second. A merge is for ever, whatever comes after it. */
function isOutdated(told: HostPullRequest, known: PullRequestRow): boolean {
  if (told.merged !== known.merged) return known.merged;
  return known.host_updated_at !== null && Date.parse(told.updatedAt) < Date.parse(known.host_updated_at);
}

/** A poll may have read what we are closing as open still. A merge may not be undone, so it counts at once. */
async function mayBeOlder(unit: Unit, issue: IssueRow, { action, pullRequest, readAt }: PullRequestEvent) {
  if (action !== 'seen' || pullRequest.merged) return false;
  return mayMissOurWrites(unit, issue, readAt ?? pullRequest.updatedAt);
}

async function linkedIssue({ engine, repo }: Intake, pr: HostPullRequest): Promise<number | null> {
  const db = engine.store.tenant;
  const known = await findPullRequest(db, repo.tenant_id, repo.id, pr.number);
  if (known) return known.issue_id;
  const number = linkedIssueNumber(pr);
  const issue = number === null ? undefined : await findIssue(db, repo.tenant_id, repo.id, number);
  return issue?.id ?? null;
}

async function followPullRequest(
  unit: Unit,
  issue: IssueRow,
  { before, now }: { before: string | null; now: HostPullRequest },
  actor: Actor,
): Promise<void> {
  if (before === now.state) return;
  const fact = { agent: actor.type, prNumber: now.number };
  if (now.merged) await noteMerge(unit, { issue }, fact);
  else {
    const eventType = now.state === 'closed' ? 'pr_closed' : 'pr_opened';
    recordPipelineEvent(unit, { issue }, { eventType, agent: fact.agent, payload: { prNumber: fact.prNumber } });
  }
  if (now.merged && issue.state !== 'done') {
    await moveBy(unit, await subjectOf(unit, issue), { cause: { trigger: 'host-merged' }, actor: actor });
  } else if (now.state === 'closed' && !now.merged && isReviewable(issue.state)) {
    const subject = await subjectOf(unit, issue);
    // Another one is what the review is about.
    if (subject.pr) return;
    const why = {
      lastError: `Pull request #${now.number} was closed without a merge.`,
      blockClassification: 'permanent' as const,
    };
    await moveBy(unit, subject, { cause: { trigger: 'pr-closed' }, actor: actor, stop: why });
  }
}

/** Takes up a person's review; only those who may write to the repo count. */
export async function takeReview(intake: Intake, event: ReviewEvent): Promise<void> {
  const { engine, repo, host } = intake;
  const { review } = event;
  if (review.author === null || !['approved', 'changes_requested'].includes(review.verdict)) return;
  const pr = await findPullRequest(engine.store.tenant, repo.tenant_id, repo.id, event.prNumber);
  const issueId = pr?.issue_id;
  if (issueId == null) return;
  const permission = await host.permissionOf(event.repo, review.author);
  if (permission !== 'admin' && permission !== 'write') return;
  await inTenant(engine, repo.tenant_id, async (unit) => {
    const issue = await lockIssue(unit.tx, unit.tenantId, issueId);
    const first = await takeRemark(unit.tx, unit.tenantId, repo.id, { kind: 'review', hostId: review.id });
    if (issue && first) await followReview(unit, issue, event);
  });
}

async function followReview(unit: Unit, issue: IssueRow, { review, prNumber }: ReviewEvent): Promise<void> {
  const actor: Actor = { type: 'operator', id: review.author, agent: null, reason: 'review on the host' };
  const payload = { prNumber, verdict: review.verdict };
  recordPipelineEvent(unit, { issue }, { eventType: 'review_submitted', agent: actor.type, payload: payload });
  if (review.verdict === 'approved') {
    if (issue.state !== 'human-review-ready') return;
    await moveBy(unit, await subjectOf(unit, issue), { cause: { trigger: 'review-approved' }, actor: actor });
    return;
  }
  if (!isReviewable(issue.state)) return;
  const remark = { kind: 'review' as const, author: review.author ?? 'unknown', body: review.body };
  await insertRemarks(unit.tx, unit.tenantId, issue.id, [remark]);
  await moveBy(unit, await subjectOf(unit, issue), { cause: { trigger: 'review-changes-requested' }, actor: actor });
}
