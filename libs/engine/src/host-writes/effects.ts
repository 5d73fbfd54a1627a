import { branchOf, type ExecuteResult, formatSlug, type ProjectionAction } from '@pipeline/domain';
import {
  actedAt,
  CLOCKS_DIFFER_MS,
  lockIssueByNumber,
  markMerged,
  openedPullRequest,
  resolveEdgesOf,
  storeNow,
  updatePullRequest,
  upsertEdge,
  wouldCycle,
} from '@pipeline/store';
import type { TransactionContext } from '../context/context.ts';
import { ENGINE, type IssueContext, type OnIssue } from '../context/issue-context.ts';
import { loadIssueContext } from '../context/load-issue.ts';
import { recordMerge } from '../knowledge/code-map.ts';
import { projectIssue, queueProjections } from '../outbox/project.ts';
import { recordPipelineEvent } from '../records/records.ts';
import { enqueueWork } from '../tasks/work-tasks.ts';
import { admitNew } from '../workflow/admit.ts';
import { moveBy } from '../workflow/move.ts';
import { returnWithFailedChecks } from './failed-checks.ts';
import { restartFront } from './merge-gate.ts';

type Created = Extract<ExecuteResult, { status: 'ok' }>['created'];
type ActionOf<T extends ProjectionAction['type']> = Extract<ProjectionAction, { type: T }>;

type Effect = (unit: TransactionContext, open: OnIssue, action: never, created: Created) => Promise<void>;

const EFFECTS: Partial<Record<ProjectionAction['type'], Effect>> = {
  createPR: onOpenedPullRequest,
  mergePR: onMerged,
  updateBranch: onBranchUpdated,
  deleteBranch: onDeletedBranch,
  closeIssue: onClosed,
  createIssue: onCreatedIssue,
};

/** Returns whether anything follows from this host write once it was executed. */
export const hasEffects = ({ type }: ProjectionAction): boolean => EFFECTS[type] !== undefined;

/** Applies what follows from a host write that was executed. */
export async function applyEffects(
  unit: TransactionContext,
  open: OnIssue,
  action: ProjectionAction,
  created: Created,
): Promise<void> {
  await EFFECTS[action.type]?.(unit, open, action as never, created);
}

/** The pull request was opened: links it to the issue, whose review may begin. */
async function onOpenedPullRequest(
  unit: TransactionContext,
  { subject, work }: OnIssue,
  action: ActionOf<'createPR'>,
  created: Created,
): Promise<void> {
  if (created?.number === undefined) throw new Error('the host opened a pull request without a number');
  const { issue } = subject;
  const opened = {
    repoId: issue.repo_id,
    issueId: issue.id,
    number: created.number,
    url: created.url ?? '',
    headRepo: formatSlug(subject.repo),
    headSha: created.sha ?? '',
    headRef: action.head || branchOf(issue.issue_number),
    baseRef: action.base,
    title: action.title,
    body: action.body,
    changedFiles: issue.submitted_files,
  };
  await openedPullRequest(unit.tx, unit.tenantId, opened);
  recordPipelineEvent(unit, subject, {
    eventType: 'pr_opened',
    agent: 'developer',
    payload: { prNumber: created.number },
  });
  if (issue.state !== 'in-review' || work.task) return;
  const task = await enqueueWork(unit, subject, { taskType: 'review', lingering: work.lingering });
  if (task.held === 'budget') await projectIssue(unit, await loadIssueContext(unit, issue), [], task);
}

/**
 * The host has closed the issue at this time: later requests count from then on. The close of a person may be older than
 * the end of the issue; then its end counts, or an earlier request would start it again.
 */
async function onClosed(
  unit: TransactionContext,
  { subject: { issue } }: OnIssue,
  _action: ProjectionAction,
  created: Created,
): Promise<void> {
  if (issue.state !== 'done' || !created?.at) return;
  const isOfEnd = Date.parse(created.at) >= Date.parse(issue.state_entered_at) - CLOCKS_DIFFER_MS;
  if (isOfEnd) await actedAt(unit.tx, issue, created.at);
}

/** The old branch is gone: the new task may begin. */
async function onDeletedBranch(unit: TransactionContext, { subject, work }: OnIssue): Promise<void> {
  if (subject.issue.state !== 'ready-for-dev' || work.task) return;
  const task = await enqueueWork(unit, subject, { taskType: 'develop', lingering: work.lingering });
  if (task.held === 'budget') await projectIssue(unit, subject, [], task);
}

/** The host has merged: only now is the issue done. It may have been moved elsewhere meanwhile; the merge decides. */
async function onMerged(
  unit: TransactionContext,
  { subject, work }: OnIssue,
  action: ActionOf<'mergePR'>,
  created: Created,
): Promise<void> {
  const { issue } = subject;
  const sha = created?.sha ?? null;
  await markMerged(unit.tx, unit.tenantId, { repoId: issue.repo_id, number: action.prNumber, sha });
  await recordMerge(unit, subject, { agent: 'merger', prNumber: action.prNumber });
  if (issue.state === 'done') return;
  const trigger = issue.state === 'merge-pending' ? 'merged' : 'host-merged';
  await moveBy(unit, await loadIssueContext(unit, issue), { cause: { trigger }, actor: ENGINE, work });
}

type Refused = Extract<ExecuteResult, { status: 'refused' }>;

/**
 * The host refuses the merge with a reason. If it names another head than the known one, a push was missed: the issue
 * moves as after a push. A merge that is no longer wanted changes nothing.
 */
export async function onMergeRefused(
  unit: TransactionContext,
  subject: IssueContext,
  { kind, headSha, message, failed = [] }: Refused,
): Promise<void> {
  if (subject.issue.state !== 'merge-pending') return;
  const actor = { ...ENGINE, reason: message };
  const { pr } = subject;
  if (kind === 'not-ready' && headSha !== undefined && pr && pr.head_sha !== headSha) {
    await updatePullRequest(unit.tx, unit.tenantId, pr.id, { head_sha: headSha });
    await moveBy(unit, { ...subject, pr: { ...pr, head_sha: headSha } }, { cause: { trigger: 'head-moved' }, actor });
    return;
  }
  switch (kind) {
    case 'queue-failed':
      return returnWithFailedChecks(unit, subject, { failed, reason: message });
    case 'behind':
      return pr ? updateBehind(unit, { ...subject, pr }) : undefined;
    case 'conflict':
    case 'not-ready':
    case 'protected':
      await moveBy(unit, subject, { cause: { trigger: kind }, actor });
      return;
    default:
  }
}

async function updateBehind(unit: TransactionContext, subject: Parameters<typeof restartFront>[1] & IssueContext) {
  const { number: prNumber, head_sha: expectedHeadSha } = subject.pr;
  await queueProjections(unit, subject, [{ type: 'updateBranch', prNumber, expectedHeadSha }]);
  await restartFront(unit, subject);
}

/**
 * The base was merged into the branch. The new head needs a review and checks of its own; without a new head the merge is
 * tried again.
 */
async function onBranchUpdated(
  unit: TransactionContext,
  { subject, work }: OnIssue,
  _action: ProjectionAction,
  created: Created,
): Promise<void> {
  const headSha = created?.sha ?? null;
  const { issue, pr } = subject;
  if (pr) await restartFront(unit, { ...subject, pr }, headSha ?? pr.head_sha);
  if (issue.state !== 'merge-pending' || !pr) return;
  if (headSha !== null && headSha !== pr.head_sha) {
    await updatePullRequest(unit.tx, unit.tenantId, pr.id, { head_sha: headSha });
    const reason = `pull request #${pr.number} was brought up to date`;
    const moved = { ...subject, pr: { ...pr, head_sha: headSha } };
    await moveBy(unit, moved, { cause: { trigger: 'head-moved' }, actor: { ...ENGINE, reason } });
  } else if (!work.task) {
    const reason = `the host has no newer head of pull request #${pr.number}`;
    await moveBy(unit, { ...subject, pr }, { cause: { trigger: 'behind' }, actor: { ...ENGINE, reason }, work });
  }
}

/** A subtask was created on the host. It is admitted like any other issue; the epic waits for it from now on. */
async function onCreatedIssue(
  unit: TransactionContext,
  { subject }: OnIssue,
  action: ActionOf<'createIssue'>,
  created: Created,
): Promise<void> {
  if (created?.number === undefined) throw new Error('the host created an issue without a number');
  const { issue } = subject;
  const epic = { repoId: issue.repo_id, number: issue.issue_number, issueId: issue.id };
  const child = { repoId: issue.repo_id, number: created.number, issueId: null };
  await upsertEdge(unit.tx, unit.tenantId, { kind: 'subtask', child, parent: epic });
  const at = created.at ?? (await storeNow(unit.tx));
  const isNew = await admitNew(unit, issue.repo_id, {
    number: created.number,
    title: action.title,
    body: action.body,
    url: created.url ?? '',
    labels: action.labels,
    author: null,
    createdAt: at,
    updatedAt: at,
  });
  // An existing issue shows its epic from now on.
  const known = isNew ? undefined : await lockIssueByNumber(unit.tx, unit.tenantId, issue.repo_id, created.number);
  if (!known) return;
  unit.dirtyIssues.changed.add(known.id);
  // A poll admitted it, with dependencies, before its epic was known to wait for it: they are parsed again, and the
  // cycle is reported.
  if (await wouldCycle(unit.tx, unit.tenantId, epic, child)) {
    await resolveEdgesOf(unit.tx, unit.tenantId, child, 'circle');
  }
}
