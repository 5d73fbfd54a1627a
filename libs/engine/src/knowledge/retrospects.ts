import { AGENT_OF, type RetrospectiveResult } from '@pipeline/domain';
import {
  changedFilesOf,
  deleteTask,
  type IssueRow,
  insertRetrospective,
  lockRetrospect,
  pullRequestsOf,
  type RunRow,
  resumePendingTask,
  updateRun,
} from '@pipeline/store';
import type { TransactionContext } from '../context/context.ts';
import type { IssueContext } from '../context/issue-context.ts';
import { standingHold } from '../costs/budgets.ts';
import { recordIssueEvent } from '../records/records.ts';
import { enqueueSide } from '../tasks/side-tasks.ts';

/**
 * Enqueues the retrospective of a done issue if it had work, merged or not. One that ended before it had a plan or a
 * pull request has none. A waiting retrospective of an earlier end stays, because its payload is built at the claim; a
 * running one has an outdated payload, so it is replaced by a new one.
 */
export async function createRetrospectTask(
  unit: TransactionContext,
  { issue, pr }: IssueContext,
  how: { merged: boolean; wasPaused: boolean },
) {
  const { tx, tenantId } = unit;
  if (how.wasPaused) {
    await resumePendingTask(tx, tenantId, issue.id, await standingHold(unit, issue));
    unit.notify('svc_tasks');
  }
  if (!how.merged && issue.plan === null && !pr) return;
  const before = await lockRetrospect(tx, tenantId, issue.id);
  if (before?.status === 'pending') return;
  if (before) {
    await deleteTask(tx, tenantId, before.id);
    if (before.run_id !== null) await updateRun(tx, tenantId, before.run_id, { status: 'cancelled' });
  }
  await enqueueSide(unit, { taskType: 'retrospect', repoId: issue.repo_id, issue });
}

/**
 * Stores a retrospective. Files that the agent omits are filled in from the pipeline's data.
 * @returns its id.
 */
export async function keepRetrospective(
  unit: TransactionContext,
  { run, issue }: { run: RunRow; issue: IssueRow },
  said: RetrospectiveResult,
): Promise<string> {
  const { tx, tenantId } = unit;
  const planned = issue.plan === null ? null : { files: issue.planned_files };
  const changed = changedFilesOf(await pullRequestsOf(tx, tenantId, issue.id), issue.submitted_files);
  const result = {
    ...said,
    plannedFiles: said.plannedFiles ?? planned,
    actualFiles: said.actualFiles ?? (changed.length > 0 ? { files: changed } : null),
  };
  const of = { repoId: issue.repo_id, issueId: issue.id, runId: run.id };
  const retrospectiveId = await insertRetrospective(tx, tenantId, of, result);
  recordIssueEvent(
    unit,
    { issue },
    {
      status: 'retrospective written',
      details: { retrospectiveId, outcomeClassification: result.outcomeClassification },
      actor: { type: 'agent', id: run.worker_id, agent: AGENT_OF.retrospect },
    },
  );
  return retrospectiveId;
}
