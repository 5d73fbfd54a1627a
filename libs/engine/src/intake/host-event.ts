import { endsWithMarker, type HostEvent, judgeChecks, othersChecks } from '@pipeline/domain';
import { checksOfCommit, hastenMerge, issuesAtHead, lockIssue, saveChecks } from '@pipeline/store';
import { inTenant, type TransactionContext } from '../context/context.ts';
import { ENGINE, type IssueContext } from '../context/issue-context.ts';
import { loadIssueContext } from '../context/load-issue.ts';
import type { Intake } from '../repos/repo-address.ts';
import { moveBy } from '../workflow/move.ts';
import { applyCommentEvent } from './comment-event.ts';
import { applyIssueEvent, readNow } from './issue-event.ts';
import { applyPullRequestEvent } from './pull-request-event.ts';
import { applyReviewEvent } from './review-event.ts';

type ChecksEvent = Extract<HostEvent, { kind: 'checks' }>;

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

/**
 * Stores reported checks of the head of an own pull request, and makes its waiting merge due, which reads the host again
 * before it decides. A block by `ci_timeout` ends when all checks of the head are green after all. Reports about other
 * commits are ignored.
 */
async function applyChecksEvent({ engine, repo }: Intake, event: ChecksEvent): Promise<void> {
  const key = { tenantId: repo.tenant_id, repoId: repo.id, sha: event.headSha };
  for (const issueId of await issuesAtHead(engine.store.db, key)) {
    await inTenant(engine, repo.tenant_id, async (unit) => {
      const issue = await lockIssue(unit.tx, unit.tenantId, issueId);
      if (!issue) return;
      await saveChecks(unit.tx, key, othersChecks(event.checks));
      unit.dirtyIssues.changed.add(issue.id);
      if (issue.state === 'merge-pending' && (await hastenMerge(unit.tx, issue))) {
        unit.notify('svc_projections');
      }
      if (issue.state === 'failure-blocked' && issue.block_reason === 'ci_timeout') {
        await unblockIfGreen(unit, await loadIssueContext(unit, issue), event.headSha);
      }
    });
  }
}

async function unblockIfGreen(unit: TransactionContext, subject: IssueContext, sha: string): Promise<void> {
  const { issue, pr } = subject;
  if (issue.blocked_from_state !== 'merge-pending' || pr?.head_sha !== sha) return;
  const rows = await checksOfCommit(unit.tx, { tenantId: unit.tenantId, repoId: issue.repo_id, sha });
  const checks = rows.map((row) => ({
    kind: row.kind,
    name: row.name,
    state: row.state,
    conclusion: row.conclusion,
    url: row.url,
    hostId: row.host_id,
    suiteId: row.suite_id,
    at: row.reported_at,
  }));
  const { verdict } = judgeChecks(checks as never, { required: [], policy: 'all', isAllowed: false });
  if (verdict !== 'green') return;
  const actor = { ...ENGINE, reason: `all checks of ${sha} are green` };
  await moveBy(unit, subject, { cause: { trigger: 'unblocked' }, actor, stop: { lastError: null } });
}
