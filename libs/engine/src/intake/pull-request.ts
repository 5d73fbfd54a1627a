import {
  type HostEvent,
  type HostPullRequest,
  isOpenedBy,
  isReviewable,
  isWorkBranch,
  linkedIssueNumber,
} from '@pipeline/domain';
import {
  findIssue,
  findPullRequest,
  type IssueRow,
  lockIssue,
  type PullRequestRow,
  upsertPullRequest,
} from '@pipeline/store';
import { inTenant, type TransactionContext } from '../context/context.ts';
import { type Actor, issueContextOf } from '../context/issue-context.ts';
import { noteMerge } from '../knowledge/code-map.ts';
import { mayMissOurWrites } from '../outbox/own-writes.ts';
import { recordPipelineEvent } from '../records/records.ts';
import { moveBy } from '../workflow/move.ts';
import type { Intake } from './intake-context.ts';
import { noteReverts } from './reverts.ts';

type PullRequestEvent = Extract<HostEvent, { kind: 'pull-request' }>;

/**
 * Applies the host's report of a pull request. The merge of any linked pull request into the default branch ends the
 * issue. A close without that merge stops it and a push sends it back to review only if the pull request is the pipeline's own: others are recorded
 * and move nothing. Reports older than the known state are ignored.
 * @returns later = the report may be older than our own writes in flight; it must be read again after them.
 */
export async function takePullRequest(intake: Intake, event: PullRequestEvent): Promise<'taken' | 'later'> {
  await noteReverts(intake, event.pullRequest);
  const isOwn = await isOwnWork(intake, event.pullRequest);
  const issueId = await linkedIssue(intake, event.pullRequest, isOwn);
  if (issueId === null) return 'taken';
  return inTenant(intake.engine, intake.repo.tenant_id, async (unit) => {
    const issue = await lockIssue(unit.tx, unit.tenantId, issueId);
    if (!issue) return 'taken';
    const link = { repoId: intake.repo.id, issueId, isOwn };
    const before = await findPullRequest(unit.tx, unit.tenantId, intake.repo.id, event.pullRequest.number);
    if (before && isOutdated(event, before)) return 'taken';
    if (before && (await mayBeOlder(unit, issue, event))) return 'later';
    await upsertPullRequest(unit.tx, unit.tenantId, event.pullRequest, link);
    unit.dirtyIssues.changed.add(issue.id);
    const actor: Actor = { type: 'operator', id: event.sender, agent: null, reason: 'on the host' };
    const seen = {
      before,
      now: event.pullRequest,
      isOwn: isOwn || before?.agent_authored === true,
      defaultBranch: intake.repo.default_branch,
    };
    await followPullRequest(unit, issue, seen, actor);
    return 'taken';
  });
}

/**
 * Host reports are late and unordered, with a resolution of one second. A merge is permanent, whatever comes after it,
 * and a push or an edit that arrives after a close was made before it.
 */
function isOutdated({ action, pullRequest: told }: PullRequestEvent, known: PullRequestRow): boolean {
  const mayReopen = action === 'reopened' || action === 'seen';
  if (known.state === 'closed' && told.state === 'open' && !mayReopen) return true;
  if (told.merged !== known.merged) return known.merged;
  return known.host_updated_at !== null && Date.parse(told.updatedAt) < Date.parse(known.host_updated_at);
}

/** A poll may still show as open what we are closing. A merge cannot be undone, so it applies immediately. */
async function mayBeOlder(
  unit: TransactionContext,
  issue: IssueRow,
  { action, pullRequest, readAt }: PullRequestEvent,
) {
  if (action !== 'seen' || pullRequest.merged) return false;
  return mayMissOurWrites(unit, issue, readAt ?? pullRequest.updatedAt);
}

/** Whether the pipeline or one of its workers opened it, from a work branch of the repository itself. */
async function isOwnWork({ engine, repo, host }: Intake, pr: HostPullRequest): Promise<boolean> {
  const logins = [await host.login(), ...engine.settings().review.workerLogins];
  return isWorkBranch(pr.headRef) && isOpenedBy(logins, pr, repo);
}

async function linkedIssue({ engine, repo }: Intake, pr: HostPullRequest, isOwn: boolean): Promise<number | null> {
  const db = engine.store.tenant;
  const known = await findPullRequest(db, repo.tenant_id, repo.id, pr.number);
  if (known) return known.issue_id;
  const number = linkedIssueNumber(pr, isOwn);
  const issue = number === null ? undefined : await findIssue(db, repo.tenant_id, repo.id, number);
  return issue?.id ?? null;
}

interface SeenPullRequest {
  before: PullRequestRow | undefined;
  now: HostPullRequest;
  isOwn: boolean;
  defaultBranch: string;
}

async function followPullRequest(
  unit: TransactionContext,
  issue: IssueRow,
  seen: SeenPullRequest,
  actor: Actor,
): Promise<void> {
  const { before, now, isOwn, defaultBranch } = seen;
  const isDone = now.merged && now.baseRef === defaultBranch;
  if (isOwn && isPushed(issue, seen)) await onPush(unit, issue, now, actor);
  if (before?.state === now.state) return;
  const fact = { agent: actor.type, prNumber: now.number };
  if (isDone) await noteMerge(unit, { issue }, fact);
  else {
    recordPipelineEvent(
      unit,
      { issue },
      { eventType: eventOf(now), agent: fact.agent, payload: { prNumber: now.number } },
    );
  }
  if (isDone && issue.state !== 'done') {
    await moveBy(unit, await issueContextOf(unit, issue), { cause: { trigger: 'host-merged' }, actor: actor });
  } else if (isOwn && now.state === 'closed' && !isDone && isReviewable(issue.state)) {
    await onClose(unit, issue, now, actor);
  }
}

const eventOf = ({ merged, state }: HostPullRequest): 'pr_merged' | 'pr_closed' | 'pr_opened' => {
  if (merged) return 'pr_merged';
  return state === 'closed' ? 'pr_closed' : 'pr_opened';
};

/** Whether the head differs from the known one, in a state whose task depends on the head. */
const isPushed = (issue: IssueRow, { before, now }: SeenPullRequest): boolean =>
  now.state === 'open' && before !== undefined && before.head_sha !== now.headSha && isReviewable(issue.state);

/** Nobody has approved the new head, so the issue goes back to its review, and tasks for the old one end. */
async function onPush(
  unit: TransactionContext,
  issue: IssueRow,
  { number, headSha }: HostPullRequest,
  actor: Actor,
): Promise<void> {
  const subject = await issueContextOf(unit, issue);
  if (subject.pr?.number !== number) return;
  const reason = `pull request #${number} has the new head ${headSha}`;
  await moveBy(unit, subject, { cause: { trigger: 'head-moved' }, actor: { ...actor, reason } });
}

async function onClose(
  unit: TransactionContext,
  issue: IssueRow,
  { number, merged, baseRef }: HostPullRequest,
  actor: Actor,
): Promise<void> {
  const subject = await issueContextOf(unit, issue);
  // The review is about another head.
  if (subject.pr) return;
  const why = {
    lastError: merged
      ? `Pull request #${number} was merged into ${baseRef}, which is not the default branch.`
      : `Pull request #${number} was closed without a merge.`,
    blockClassification: 'permanent' as const,
  };
  await moveBy(unit, subject, { cause: { trigger: 'pr-closed' }, actor: actor, stop: why });
}
