import { currentLabels, type HostIntent, type ProjectionAction, repeatedAction } from '@pipeline/domain';
import {
  hasLaterProjection,
  hasSucceeded,
  issueOfProjection,
  type ProjectionRow,
  pullRequestsOf,
  type Tx,
} from '@pipeline/store';

/**
 * The host write of an outbox entry if it is sent now; null = none. The issue is read without its lock: any change of
 * it queues its own entry behind this one.
 */
export async function actionNow(tx: Tx, projection: ProjectionRow): Promise<ProjectionAction | null> {
  const { action, attempt_started_at } = projection;
  const repeated = attempt_started_at !== null && (await hasSucceeded(tx, projection));
  if (!repeated && action.type !== 'swapLabels') return action;
  const intent = await intentOf(tx, projection);
  // An entry without a record: a label for intake, or an issue that a track creates.
  if (intent === null) return repeated && action.type === 'createIssue' ? null : action;
  if (repeated) return repeatedAction(action, intent);
  return action.type === 'swapLabels' ? currentLabels(action, intent) : action;
}

async function intentOf(tx: Tx, projection: ProjectionRow): Promise<HostIntent | null> {
  const issue = await issueOfProjection(tx, projection);
  if (!issue) return null;
  const prs = await pullRequestsOf(tx, issue.tenant_id, issue.id);
  return {
    state: issue.state,
    isBlocked: issue.is_blocked,
    isPaused: issue.is_paused,
    statusComment: issue.status_comment_body,
    closedPullRequests: prs.filter(({ state, merged }) => state === 'closed' && !merged).map(({ number }) => number),
    isNewestOfType: !(await hasLaterProjection(tx, projection)),
  };
}
