import { ENQUEUE_LABEL, inertText, type ProjectionAction } from '@pipeline/domain';
import { insertProjections, type RepoRow } from '@pipeline/store';
import type { TransactionContext } from '../context/context.ts';
import type { IssueEvent } from './host-facts.ts';
import type { TextVerdict } from './text-changes.ts';

/**
 * Refuses an issue whose text was changed by a person without write permission after the label for intake was added:
 * removes the label and comments the reason. Once for each state of the issue, however often polls read it. A label of an
 * account that may not enqueue gets no write: each would be one that a stranger causes.
 */
export async function refuseEnqueue(
  unit: TransactionContext,
  repo: RepoRow,
  { issue }: IssueEvent,
  { changedBy, isStrayLabel }: TextVerdict,
): Promise<void> {
  if (isStrayLabel) return;
  const who = changedBy === null ? 'somebody' : inertText(changedBy, 100).replace(/\s+/g, ' ');
  const marker = `refused-${issue.updatedAt}`;
  const body =
    `The text of this issue was changed by ${who} after \`${ENQUEUE_LABEL}\` was added, so it was not enqueued. ` +
    'Check the text and add the label again.';
  const actions: ProjectionAction[] = [
    { type: 'removeLabels', labels: [ENQUEUE_LABEL] },
    { type: 'postComment', body, marker },
  ];
  const items = actions.map((action) => ({
    repoId: repo.id,
    issueId: null,
    issueNumber: issue.number,
    clientType: repo.vcs_host,
    action,
    idempotencyKey: `${repo.id}#${issue.number} ${marker} ${action.type}`,
  }));
  await insertProjections(unit.tx, unit.tenantId, items);
  unit.notify('svc_projections');
}
