import { AWAITED_WRITES, type ProjectionAction, type State } from '@pipeline/domain';
import { insertDeadLetter, type ProjectionRow } from '@pipeline/store';
import type { TransactionContext } from '../context/context.ts';
import { ENGINE, type IssueContext } from '../context/issue-context.ts';
import { recordPipelineEvent } from '../records/records.ts';

/** Returns whether an issue waits for the host to execute this. */
export const isAwaited = ({ type }: ProjectionAction): boolean => AWAITED_WRITES[type] !== undefined;

/**
 * Inserts a dead letter for an entry that will not be sent again automatically, if the issue waits for it or for
 * entries behind it in its lane. No issue waits for labels and comments.
 */
export async function deadLetterProjection(
  unit: TransactionContext,
  subject: IssueContext,
  projection: ProjectionRow,
  error: string,
): Promise<void> {
  const { issue } = subject;
  const { action, lane } = projection;
  if (issue.state === 'done' || lane === 'labels' || lane === 'talk') return;
  const deadLetterId = await insertDeadLetter(unit.tx, unit.tenantId, {
    repoId: issue.repo_id,
    issueId: issue.id,
    issueNumber: issue.issue_number,
    fromState: issue.state as State,
    targetState: AWAITED_WRITES[action.type]?.leadsTo ?? issue.state,
    agentName: null,
    error: `${action.type}: ${error}`,
    cause: { kind: 'projection', projectionId: projection.id },
  });
  recordPipelineEvent(unit, subject, {
    eventType: 'dead_letter_created',
    agent: ENGINE.type,
    payload: { deadLetterId },
  });
  unit.notify('svc_cache');
}
