import {
  awaitsPullRequest,
  type HostEvent,
  type HostPullRequest,
  isOpenedBy,
  isWorkBranch,
  linkedIssueNumber,
  revertedBy,
} from '@pipeline/domain';
import {
  findIssue,
  findPullRequest,
  hastenMerge,
  type IssueRow,
  issueById,
  lockIssue,
  lockIssues,
  lockPullRequest,
  markReverted,
  type PullRequestRow,
  refOf,
  upsertPullRequest,
} from '@pipeline/store';
import { inTenant, type TransactionContext } from '../context/context.ts';
import type { Actor } from '../context/issue-context.ts';
import { loadIssueContext } from '../context/load-issue.ts';
import { recordMerge } from '../knowledge/code-map.ts';
import { mayMissOurWrites } from '../outbox/own-writes.ts';
import { recordPipelineEvent } from '../records/records.ts';
import type { Intake } from '../repos/repo-address.ts';
import { moveBy } from '../workflow/move.ts';
import { revokeApproval } from '../workflow/revoke-approval.ts';

type PullRequestEvent = Extract<HostEvent, { kind: 'pull-request' }>;

/**
 * - later: the report may be older than our own writes in flight; it must be read again after them.
 * - relinked: the pull request was linked to another issue since its issues were found, so their locks are missing.
 * - unclear: the known head and the reported one are of the same second; the host is queried for the newer one.
 */
type Outcome = 'applied' | 'later' | 'relinked' | 'unclear';

const MAX_ATTEMPTS = 4;

/**
 * Applies the host's report of a pull request. The merge of any linked pull request into the default branch ends the
 * issue. A close without that merge stops it and a push sends it back to review only if the pull request is the
 * pipeline's own: others are recorded and move nothing. Reports older than the known state are ignored.
 * @returns later = the report may be older than our own writes in flight; it must be read again after them.
 */
export async function applyPullRequestEvent(intake: Intake, event: PullRequestEvent): Promise<'applied' | 'later'> {
  await recordReverts(intake, event.pullRequest);
  const isOwn = await isOwnWork(intake, event.pullRequest);
  let report: Report = { event, readAfter: null };
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    const outcome = await applyOnce(intake, report, isOwn);
    if (outcome === 'applied' || outcome === 'later') return outcome;
    if (outcome === 'unclear') report = await readAgain(intake, report);
  }
  throw new Error(`pull request #${event.pullRequest.number} was changed while it was read`);
}

interface Report {
  event: PullRequestEvent;
  /** The recorded head after which the pull request was read on the host; the report is as new as that head. */
  readAfter: string | null;
}

async function readAgain({ engine, repo, host }: Intake, { event }: Report): Promise<Report> {
  const { number } = event.pullRequest;
  const known = await findPullRequest(engine.store.db, repo.tenant_id, repo.id, number);
  const pullRequest = await host.getPullRequest(repo, number);
  return { event: { ...event, ...(pullRequest && { pullRequest }) }, readAfter: known?.head_sha ?? null };
}

async function applyOnce(intake: Intake, report: Report, isOwn: boolean): Promise<Outcome> {
  const { engine, repo } = intake;
  const { event } = report;
  const { number } = event.pullRequest;
  const known = await findPullRequest(engine.store.db, repo.tenant_id, repo.id, number);
  const issueId = await linkedIssue(intake, event.pullRequest, { isOwn, known });
  if (issueId === null && !known) return 'applied';
  const knownIssueId = known?.issue_id ?? null;
  return inTenant(engine, repo.tenant_id, async (unit) => {
    const linked = [knownIssueId, issueId].filter((id) => id !== null);
    const issues = await lockIssues(unit.tx, unit.tenantId, linked);
    const before = await lockPullRequest(unit.tx, unit.tenantId, repo.id, number);
    if ((before?.issue_id ?? null) !== knownIssueId) return 'relinked';
    if (before && isUnclear(report, before)) return 'unclear';
    return applyTo(unit, intake, event, { before, issues, issueId, isOwn });
  });
}

interface Linked {
  before: PullRequestRow | undefined;
  /** The recorded issue and the new one, locked. */
  issues: readonly IssueRow[];
  /** Issue of the new link; null when the text names no issue of the pipeline any more. */
  issueId: number | null;
  isOwn: boolean;
}

async function applyTo(
  unit: TransactionContext,
  { repo }: Intake,
  event: PullRequestEvent,
  { before, issues, issueId, isOwn }: Linked,
): Promise<'applied' | 'later'> {
  const issue = issues.find(({ id }) => id === issueId);
  if (before && isOutdated(event, before)) return 'applied';
  if (before && issue && (await mayBeOlder(unit, issue, event))) return 'later';
  const link = { repoId: repo.id, issueId: issue?.id ?? null, isOwn };
  await upsertPullRequest(unit.tx, unit.tenantId, event.pullRequest, link);
  for (const { id } of issues) unit.dirtyIssues.changed.add(id);
  if (!issue) return 'applied';
  const actor: Actor = { type: 'operator', id: event.sender, agent: null, reason: 'on the host' };
  const seen = {
    before,
    now: event.pullRequest,
    isOwn: isOwn || before?.agent_authored === true,
    defaultBranch: repo.default_branch,
  };
  await applyPullRequest(unit, issue, seen, actor);
  return 'applied';
}

/**
 * Host reports are late and unordered, with a resolution of one second. A merge is permanent, whatever comes after it,
 * and a push or an edit that arrives after a close was made before it.
 */
function isOutdated({ action, pullRequest: reported }: PullRequestEvent, known: PullRequestRow): boolean {
  const mayReopen = action === 'reopened' || action === 'seen';
  if (known.state === 'closed' && reported.state === 'open' && !mayReopen) return true;
  if (reported.merged !== known.merged) return known.merged;
  return known.host_updated_at !== null && Date.parse(reported.updatedAt) < Date.parse(known.host_updated_at);
}

/**
 * A late delivery of an earlier push would otherwise take back one of the same second, and no later report would say
 * so.
 */
const isUnclear = ({ event: { pullRequest }, readAfter }: Report, known: PullRequestRow): boolean =>
  known.host_updated_at !== null &&
  Date.parse(pullRequest.updatedAt) === Date.parse(known.host_updated_at) &&
  pullRequest.headSha !== known.head_sha &&
  readAfter !== known.head_sha;

/** A poll may still show as open what we are closing. A merge cannot be undone, so it applies immediately. */
async function mayBeOlder(
  unit: TransactionContext,
  issue: IssueRow,
  { action, pullRequest, readAt }: PullRequestEvent,
) {
  if (action !== 'seen' || pullRequest.merged) return false;
  return mayMissOurWrites(unit, issue, readAt ?? pullRequest.updatedAt);
}

/** Returns whether the pipeline or one of its workers opened it, from a work branch of the repository itself. */
async function isOwnWork({ engine, repo, host }: Intake, pr: HostPullRequest): Promise<boolean> {
  const logins = [await host.login(), ...engine.settings().review.workerLogins];
  return isWorkBranch(pr.headRef) && isOpenedBy(logins, pr, refOf(repo));
}

/**
 * The issue of a pull request: for the pipeline's own and for merged ones the recorded issue, whatever is written into
 * their texts; else the issue that the text names now.
 */
async function linkedIssue(
  { engine, repo }: Intake,
  pr: HostPullRequest,
  { isOwn, known }: { isOwn: boolean; known: PullRequestRow | undefined },
): Promise<number | null> {
  if (known?.merged) return known.issue_id;
  const isKnownAsOwn = known !== undefined && (isOwn || known.agent_authored);
  if (isKnownAsOwn && known.issue_id !== null) return known.issue_id;
  const number = linkedIssueNumber(pr, isOwn);
  const issue = number === null ? undefined : await findIssue(engine.store.db, repo.tenant_id, repo.id, number);
  return issue?.id ?? null;
}

interface SeenPullRequest {
  before: PullRequestRow | undefined;
  now: HostPullRequest;
  isOwn: boolean;
  defaultBranch: string;
}

async function applyPullRequest(
  unit: TransactionContext,
  issue: IssueRow,
  seen: SeenPullRequest,
  actor: Actor,
): Promise<void> {
  const { before, now, isOwn, defaultBranch } = seen;
  const isDone = now.merged && now.baseRef === defaultBranch;
  if (isOwn && isPushed(issue, seen)) await onPush(unit, issue, now, actor);
  // The merge waited for the end of the draft.
  if (before?.draft && !now.draft && (await hastenMerge(unit.tx, issue))) unit.notify('svc_projections');
  if (isOwn && before && before.base_ref !== now.baseRef) await onRetarget(unit, issue, now, actor);
  if (before?.state === now.state) return;
  const fact = { agent: actor.type, prNumber: now.number };
  if (isDone) await recordMerge(unit, { issue }, fact);
  else {
    recordPipelineEvent(
      unit,
      { issue },
      { eventType: eventOf(now), agent: fact.agent, payload: { prNumber: now.number } },
    );
  }
  if (isDone && issue.state !== 'done') {
    await moveBy(unit, await loadIssueContext(unit, issue), { cause: { trigger: 'host-merged' }, actor: actor });
  } else if (isOwn && now.state === 'closed' && !isDone && awaitsPullRequest(issue.state, issue.plan_status)) {
    await onClose(unit, issue, now, actor);
  }
}

const eventOf = ({ merged, state }: HostPullRequest): 'pr_merged' | 'pr_closed' | 'pr_opened' => {
  if (merged) return 'pr_merged';
  return state === 'closed' ? 'pr_closed' : 'pr_opened';
};

/** Returns whether the head differs from the known one, in a state whose task depends on the head. */
const isPushed = (issue: IssueRow, { before, now }: SeenPullRequest): boolean =>
  now.state === 'open' &&
  before !== undefined &&
  before.head_sha !== now.headSha &&
  awaitsPullRequest(issue.state, issue.plan_status);

/** No one has approved the new head, so the issue goes back to its review, and tasks for the old one end. */
async function onPush(
  unit: TransactionContext,
  issue: IssueRow,
  { number, headSha }: HostPullRequest,
  actor: Actor,
): Promise<void> {
  const subject = await loadIssueContext(unit, issue);
  if (subject.pr?.number !== number) return;
  const reason = `pull request #${number} has the new head ${headSha}`;
  await moveBy(unit, subject, { cause: { trigger: 'head-moved' }, actor: { ...actor, reason } });
}

/** The approval was given for the changes to another branch. */
async function onRetarget(
  unit: TransactionContext,
  issue: IssueRow,
  { number, baseRef }: HostPullRequest,
  actor: Actor,
): Promise<void> {
  await unit.rows.write();
  const locked = await lockIssue(unit.tx, unit.tenantId, issue.id);
  const subject = await loadIssueContext(unit, locked ?? issue);
  if (subject.pr?.number !== number) return;
  const reason = `the base of pull request #${number} was changed to ${baseRef}`;
  await revokeApproval(unit, subject, { ...actor, reason });
}

async function onClose(
  unit: TransactionContext,
  issue: IssueRow,
  { number, merged, baseRef }: HostPullRequest,
  actor: Actor,
): Promise<void> {
  const subject = await loadIssueContext(unit, issue);
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

/**
 * Records which merged pull requests a merge reverts. The reverting one usually belongs to no issue. A repeated merge
 * event changes nothing.
 */
async function recordReverts({ engine, repo }: Intake, pr: HostPullRequest): Promise<void> {
  const { numbers, shas } = revertedBy(pr.body, repo);
  if (!pr.merged || numbers.length + shas.length === 0) return;
  await inTenant(engine, repo.tenant_id, async (unit) => {
    const reverted = await markReverted(unit.tx, unit.tenantId, { repoId: repo.id, numbers, shas, by: pr.number });
    for (const { number, issueId } of reverted) {
      const issue = issueId === null ? undefined : await issueById(unit.tx, unit.tenantId, issueId);
      const about = { repo_id: repo.id, id: issueId, issue_number: issue?.issue_number ?? null };
      const payload = { prNumber: number, revertedBy: pr.number };
      recordPipelineEvent(unit, { issue: about }, { eventType: 'pr_reverted', agent: 'operator', payload });
    }
  });
}
