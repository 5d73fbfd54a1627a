import {
  AGENT_OF,
  AppError,
  type ArtefactInput,
  type FindingInput,
  type IntelligenceInput,
  type Invocation,
  isSideTask,
  OUTCOMES_OF,
  type Outcome,
  type State,
  type TaskType,
} from '@pipeline/domain';
import {
  deleteTask,
  type IssueRow,
  insertArtefacts,
  ownPullRequest,
  type RecordOwner,
  type RunRow,
} from '@pipeline/store';
import type { TransactionContext } from '../context/context.ts';
import type { Actor, HeldClaim } from '../context/issue-context.ts';
import { loadIssueContext } from '../context/load-issue.ts';
import { bookInvocations } from '../costs/book-invocations.ts';
import { saveCodeMap } from '../knowledge/code-map.ts';
import { saveFindings, saveIntelligence } from '../knowledge/observe.ts';
import { saveRetrospective } from '../knowledge/retrospectives.ts';
import { recordTaskEvent, subjectOfRun } from '../records/records.ts';
import { claimEnded } from '../tasks/work-tasks.ts';
import { moveBy } from '../workflow/move.ts';
import { applyResult } from './results.ts';

export type Report = Outcome & {
  artefacts: ArtefactInput[];
  findings: FindingInput[];
  intelligence?: IntelligenceInput[];
  invocations: Invocation[];
};

export interface ReportAnswer {
  ok: true;
  requeued: false;
  attempt: number;
  /** The issue's current state; null for a task without an issue. */
  state: State | null;
}

/**
 * Applies the outcome of a task whose claim is valid: deletes the task, stores costs and records, and applies the
 * decision or writes a dead letter. The caller closes the run.
 * @throws AppError INVALID_ARGUMENT for an outcome that a task of this type cannot have.
 */
export async function applyReport(unit: TransactionContext, claim: HeldClaim, body: Report): Promise<ReportAnswer> {
  const { run } = claim;
  const allowed = OUTCOMES_OF[run.task_type as TaskType];
  if (!allowed.includes(body.outcome)) {
    const may = allowed.join(', ');
    throw new AppError('INVALID_ARGUMENT', `A ${run.task_type} task cannot end as ${body.outcome}; it may be: ${may}`);
  }
  return { ok: true, requeued: false, attempt: run.attempt, state: await applyOutcome(unit, claim, body) };
}

async function applyOutcome(unit: TransactionContext, claim: HeldClaim, body: Report): Promise<State | null> {
  const { run } = claim;
  const { tx, tenantId } = unit;
  const actor: Actor = { type: 'agent', id: run.worker_id, agent: AGENT_OF[run.task_type as TaskType] };
  await deleteTask(tx, tenantId, run.task_id);
  const issue = await bookInvocations(unit, claim, body.invocations);
  const owner = await saveRecords(unit, run, issue, body);
  const { task_id: taskId, task_type: taskType, attempt, worker_id: workerId } = run;
  if (issue || body.outcome === 'scanned') {
    recordTaskEvent(unit, subjectOfRun(run, issue), 'task_completed', { taskId, taskType, attempt, workerId });
    // The repo may have a limit of claims; the next one can begin.
    if (isSideTask(taskType)) unit.notify('svc_tasks');
  }
  if (body.outcome === 'scanned') await saveCodeMap(unit, run, body.result);
  const retrospectiveId =
    issue && body.outcome === 'retrospective' ? await saveRetrospective(unit, { run, issue }, body.result) : null;
  const observed = { items: body.intelligence ?? [], retrospectiveId };
  await saveIntelligence(unit, { ...owner, issueNumber: issue?.issue_number ?? null }, observed);
  if (!issue) return null;
  if (isSideTask(taskType)) return issue.state;
  // A reported finding may block the issue, and dependencies are written by its result only.
  const known = body.findings.length === 0 ? claim.around?.context : undefined;
  const { subject, outcome } = await applyResult(unit, await loadIssueContext(unit, issue, known), {
    reported: body,
    claimedHead: run.head_sha,
  });
  claimEnded(unit, subject);
  const question = outcome.outcome === 'needs-clarification' ? outcome.result.question : null;
  const moved = await moveBy(unit, subject, {
    cause: { trigger: outcome.outcome, outcome, headSha: reviewedHead(run, body) },
    actor: actor,
    stop: { question },
    // The claim's task was the issue's only one, and is deleted.
    ...(claim.around && { work: { task: undefined, lingering: claim.around.context.lingering } }),
  });
  return moved.subject.issue.state as State;
}

/** The commit of a verdict; null when the reviewer reports another one than its task named. */
function reviewedHead({ head_sha: head }: RunRow, body: Report): string | null {
  const named = body.outcome === 'approved' ? body.result.headSha : undefined;
  return named === undefined || head?.startsWith(named) ? head : null;
}

async function saveRecords(
  unit: TransactionContext,
  run: RunRow,
  issue: IssueRow | undefined,
  body: Report,
): Promise<RecordOwner> {
  const { tx, tenantId } = unit;
  const { artefacts, findings } = body;
  const leaves = artefacts.length + findings.length + (body.intelligence?.length ?? 0);
  const pr = issue && leaves > 0 ? await ownPullRequest(tx, tenantId, issue.id) : undefined;
  const owner = {
    runId: run.id,
    repoId: run.repo_id,
    issueId: run.issue_id,
    prId: pr?.id ?? null,
    prNumber: pr?.number ?? null,
    agent: run.agent,
  };
  await insertArtefacts(tx, tenantId, owner, artefacts);
  await saveFindings(unit, owner, issue, findings);
  return owner;
}
