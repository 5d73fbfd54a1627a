import type { RetrospectiveResult } from '@pipeline/domain';
import { timeOrderedId } from '@pipeline/runtime/time-ordered-id';
import type { Tx } from '../driver/database.ts';
import { jsonb } from '../driver/fragments.ts';

interface RetrospectiveOf {
  repoId: number;
  issueId: number;
  runId: number;
}

/**
 * Adds a retrospective of an issue whose row the caller has locked. An issue that was done repeatedly has several; the
 * one with the highest id is shown.
 */
export async function insertRetrospective(
  tx: Tx,
  tenantId: number,
  { repoId, issueId, runId }: RetrospectiveOf,
  result: RetrospectiveResult,
): Promise<string> {
  const id = timeOrderedId();
  const object = (value: object | null) => (value === null ? null : jsonb(value));
  await tx
    .insertInto('retrospectives')
    .values({
      tenant_id: tenantId,
      id,
      repo_id: repoId,
      issue_id: issueId,
      run_id: runId,
      status: 'complete',
      outcome_classification: result.outcomeClassification,
      summary: result.summary,
      planned_files: object(result.plannedFiles),
      actual_files: object(result.actualFiles),
      failures: object(result.failures),
      lessons: object(result.lessons),
    })
    .execute();
  return id;
}
