import { AGENT_OF, type RetrospectiveResult } from '@pipeline/domain';
import { changedFilesOf, type IssueRow, insertRetrospective, pullRequestsOf, type RunRow } from '@pipeline/store';
import type { TransactionContext } from '../context/context.ts';
import { recordIssueEvent } from '../records/records.ts';

/**
 * Stores a retrospective. Files that the agent omits are filled in from the pipeline's data.
 * @returns its id.
 */
export async function saveRetrospective(
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
