import {
  AGENT_OF,
  AppError,
  allowedLabels,
  branchOf,
  type Outcome,
  parseIssueRef,
  requiresPlanApproval,
  type Slug,
  splitQuestion,
} from '@pipeline/domain';
import {
  answerPlan,
  clearReviewRemarks,
  findIssue,
  insertPlan,
  insertRemarks,
  repoByKey,
  splitFactsOf,
  updatePullRequest,
  upsertEdge,
  wouldCycle,
} from '@pipeline/store';
import type { TransactionContext } from '../context/context.ts';
import type { IssueContext } from '../context/issue-context.ts';

type Result<N extends Outcome['outcome']> = Extract<Outcome, { outcome: N }>['result'];

/**
 * Stores the data of an outcome before the decision.
 * @param claimedHead the head of the pull request when the task was claimed; null = unknown.
 * @returns the issue context with this data, and the outcome, which becomes a question to a person if its dependencies
 * cannot be waited for, or its subtasks exceed the limits.
 */
export async function applyResult(
  unit: TransactionContext,
  subject: IssueContext,
  { reported, claimedHead }: { reported: Outcome; claimedHead: string | null },
): Promise<{ subject: IssueContext; outcome: Outcome }> {
  switch (reported.outcome) {
    case 'planned':
      return { subject: await savePlan(unit, subject, reported.result), outcome: reported };
    case 'submitted':
      return { subject: await saveSubmission(unit, subject, reported.result, claimedHead), outcome: reported };
    case 'changes-requested':
      await saveReview(unit, subject, reported.result);
      return { subject, outcome: reported };
    case 'split':
      return { subject, outcome: await limitSplit(unit, subject, reported) };
    case 'depends':
      return { subject, outcome: await saveDependencies(unit, subject, reported) };
    default:
      return { subject, outcome: reported };
  }
}

/** Saves a plan. Where the workflow requires an approval, it becomes a version that a person has to approve. */
async function savePlan(
  unit: TransactionContext,
  subject: IssueContext,
  { plan, plannedFiles }: Result<'planned'>,
): Promise<IssueContext> {
  const { issue } = subject;
  const isRequired = requiresPlanApproval(subject.workflow);
  const version = issue.plan_version + (isRequired ? 1 : 0);
  const status = isRequired ? ('pending' as const) : null;
  const change = { plan, planned_files: plannedFiles, plan_version: version, plan_status: status };
  const key = { tenantId: unit.tenantId, issueId: issue.id };
  if (issue.plan_status === 'pending') {
    const withdrawn = { status: 'withdrawn', by: AGENT_OF.plan, reason: 'a newer plan was reported' } as const;
    await answerPlan(unit.tx, key, withdrawn);
  }
  if (isRequired) {
    const origin = { version, editsVersion: null, authorType: 'agent' as const, author: AGENT_OF.plan };
    await insertPlan(unit.tx, key, { ...origin, body: plan, plannedFiles });
  }
  unit.rows.setIssue(issue.id, change);
  return { ...subject, issue: { ...subject.issue, ...change } };
}

/**
 * A new submission settles the last round of review, and updates the head of the open pull request. A head that the
 * host has reported since the claim is newer than the worker's, so it stays.
 * @throws AppError INVALID_ARGUMENT for a branch other than the one issued with the claim: its pull request may belong to
 * another issue or to a person.
 */
async function saveSubmission(
  unit: TransactionContext,
  subject: IssueContext,
  result: Result<'submitted'>,
  claimedHead: string | null,
): Promise<IssueContext> {
  const branch = branchOf(subject.issue.issue_number);
  if (result.branch !== branch) {
    const problem = `result.branch: ${result.branch} is not the branch of this task; push the work to ${branch}`;
    throw new AppError('INVALID_ARGUMENT', problem);
  }
  await clearReviewRemarks(unit.tx, unit.tenantId, subject.issue.id);
  unit.rows.setIssue(subject.issue.id, { submitted_files: result.changedFiles });
  const issue = { ...subject.issue, submitted_files: result.changedFiles };
  if (subject.pr?.head_ref !== branch) return { ...subject, issue };
  const isReported = claimedHead !== null && subject.pr.head_sha !== claimedHead;
  const headSha = isReported ? subject.pr.head_sha : result.headSha;
  const change = { head_sha: headSha, changed_files: result.changedFiles };
  await updatePullRequest(unit.tx, unit.tenantId, subject.pr.id, change);
  return { ...subject, issue, pr: { ...subject.pr, ...change } };
}

async function saveReview(
  unit: TransactionContext,
  subject: IssueContext,
  result: Result<'changes-requested'>,
): Promise<void> {
  const author = 'reviewer';
  const comments = [
    { kind: 'review' as const, author, body: result.body },
    ...result.comments.map((comment) => ({ kind: 'review' as const, author, ...comment })),
  ];
  await insertRemarks(unit.tx, unit.tenantId, subject.issue.id, comments);
}

/** A split within its limits, with labels that its subtasks may have; else a question to a person. */
async function limitSplit(
  unit: TransactionContext,
  { issue }: IssueContext,
  { result, outcome }: Extract<Outcome, { outcome: 'split' }>,
): Promise<Outcome> {
  const facts = await splitFactsOf(unit.tx, unit.tenantId, { repoId: issue.repo_id, number: issue.issue_number });
  const question = splitQuestion(facts, result.subtasks.length);
  if (question !== null) return asQuestion(question);
  const subtasks = result.subtasks.map((task) => ({ ...task, labels: allowedLabels(task.labels, issue.labels) }));
  return { outcome, result: { subtasks } };
}

async function saveDependencies(
  unit: TransactionContext,
  subject: IssueContext,
  reported: Extract<Outcome, { outcome: 'depends' }>,
): Promise<Outcome> {
  const { issue, repo } = subject;
  const child = { repoId: issue.repo_id, number: issue.issue_number, issueId: issue.id };
  for (const reference of reported.result.on) {
    const parent = await parentOf(unit, repo, reference);
    if (!parent)
      return asQuestion(
        `It depends on "${reference}", which names no issue of an enabled repository. Which one is meant?`,
      );
    const self = parent.repoId === child.repoId && parent.number === child.number;
    if (self || (await wouldCycle(unit.tx, unit.tenantId, child, parent))) {
      return asQuestion(
        `It depends on ${reference}, which in turn waits for this issue. Which of the two comes first?`,
      );
    }
    await upsertEdge(unit.tx, unit.tenantId, { kind: 'depends_on', child, parent });
  }
  return reported;
}

const asQuestion = (question: string): Outcome => ({ outcome: 'needs-clarification', result: { question } });

async function parentOf(unit: TransactionContext, home: Slug, reference: string) {
  const ref = parseIssueRef(reference, home);
  const repo = ref && (await repoByKey(unit.tx, unit.tenantId, ref.repo));
  if (!ref || !repo) return null;
  const issue = await findIssue(unit.tx, unit.tenantId, repo.id, ref.number);
  return { repoId: repo.id, number: ref.number, issueId: issue?.id ?? null };
}
