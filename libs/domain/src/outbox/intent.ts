import { ENQUEUE_LABEL, isOutputLabel, outputLabels, stateLabel } from '../labels.ts';
import type { State } from '../states.ts';
import type { ProjectionAction } from './projections.ts';

/** State of an issue that its labels show. */
interface LabelIntent {
  state: State;
  isBlocked: boolean;
  isPaused: boolean;
}

/** The state that the store wants the host to show for an issue. */
export interface HostIntent extends LabelIntent {
  statusComment: string | null;
  /** Numbers of the pull requests that are closed without a merge. */
  closedPullRequests: readonly number[];
  /** True = the issue has no later entry of the same type. */
  isNewestOfType: boolean;
}

type Labels = Extract<ProjectionAction, { type: 'swapLabels' }>;

/**
 * A label change updated to the current state from that in which it was queued. `svc:paused` and `svc:blocked` change
 * only if the entry contained them, because people set the first one too.
 */
export function currentLabels(action: Labels, intent: LabelIntent): Labels {
  const wanted = outputLabels(intent);
  const named = [...new Set([...action.remove, ...action.add])];
  const state = stateLabel(intent.state);
  const add = [
    ...action.add.filter((label) => !isOutputLabel(label)),
    ...wanted.filter((label) => label === state || named.includes(label)),
  ];
  const remove = named.filter(
    (label) => !add.includes(label) && (isOutputLabel(label) || action.remove.includes(label)),
  );
  return { type: 'swapLabels', remove, add };
}

/**
 * Returns whether a close or a reopening agrees with the state of the issue. Each is queued by a move and may be sent
 * long after.
 */
export const agreesWithState = (
  { type }: Extract<ProjectionAction, { type: 'closeIssue' | 'reopenIssue' }>,
  { state }: Pick<HostIntent, 'state'>,
): boolean => (type === 'closeIssue') === (state === 'done');

/**
 * The write of a completed entry that is retried; null = none, because the store no longer wants it or because
 * repeating it would undo later writes.
 */
export function repeatedAction(action: ProjectionAction, intent: HostIntent): ProjectionAction | null {
  const wanted = outputLabels(intent);
  switch (action.type) {
    case 'swapLabels':
      // The intake request whose label it removed was handled; a present label is a new request.
      return currentLabels({ ...action, remove: action.remove.filter((label) => label !== ENQUEUE_LABEL) }, intent);
    case 'addLabels':
      return withLabels(action, (label) => wanted.includes(label));
    case 'removeLabels':
      return withLabels(action, (label) => isOutputLabel(label) && !wanted.includes(label));
    case 'closeIssue':
    case 'reopenIssue':
      return agreesWithState(action, intent) ? action : null;
    case 'updateComment':
      return intent.statusComment === null ? null : { ...action, body: intent.statusComment };
    case 'closePR':
      return intent.closedPullRequests.includes(action.prNumber) ? action : null;
    case 'updatePR':
    case 'requestReview':
    case 'submitReview':
    case 'setCommitStatus':
      return intent.isNewestOfType ? action : null;
    case 'createIssue':
    case 'createPR':
    case 'mergePR':
    case 'deleteBranch':
      return null;
    default:
      // A comment is found by its marker; the other writes are idempotent.
      return action;
  }
}

function withLabels<T extends { labels: string[] }>(action: T, keep: (label: string) => boolean): T | null {
  const labels = action.labels.filter(keep);
  return labels.length === 0 ? null : { ...action, labels };
}
