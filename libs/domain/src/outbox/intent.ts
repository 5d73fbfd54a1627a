import { ENQUEUE_LABEL, isOutputLabel, outputLabels, stateLabel } from '../labels.ts';
import type { State } from '../states.ts';
import type { ProjectionAction } from './projections.ts';

/** What the store wants the host to show of an issue now. */
export interface HostIntent {
  state: State;
  isBlocked: boolean;
  isPaused: boolean;
  statusComment: string | null;
  /** Numbers of the pull requests that are closed without a merge. */
  closedPullRequests: readonly number[];
  /** Whether no later entry of the issue has the same type. */
  isNewestOfType: boolean;
}

type Labels = Extract<ProjectionAction, { type: 'swapLabels' }>;

/**
 * A change of labels with those of the current state in place of those of the state in which it was queued. `svc:paused`
 * and `svc:blocked` change only where the entry named them: people set the first one too.
 */
export function currentLabels(action: Labels, intent: HostIntent): Labels {
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
 * What an entry that was carried out before writes when it is retried; null = nothing, because the store does not want
 * it any more or because repeating it would undo later work.
 */
export function repeatedAction(action: ProjectionAction, intent: HostIntent): ProjectionAction | null {
  const wanted = outputLabels(intent);
  switch (action.type) {
    case 'swapLabels':
      // The request for intake that it removed has been handled; one that is there now is a new one.
      return currentLabels({ ...action, remove: action.remove.filter((label) => label !== ENQUEUE_LABEL) }, intent);
    case 'addLabels':
      return withLabels(action, (label) => wanted.includes(label));
    case 'removeLabels':
      return withLabels(action, (label) => isOutputLabel(label) && !wanted.includes(label));
    case 'closeIssue':
      return intent.state === 'done' ? action : null;
    case 'reopenIssue':
      return intent.state === 'done' ? null : action;
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
      // A comment is found by its marker; the others change nothing when they are repeated.
      return action;
  }
}

function withLabels<T extends { labels: string[] }>(action: T, keep: (label: string) => boolean): T | null {
  const labels = action.labels.filter(keep);
  return labels.length === 0 ? null : { ...action, labels };
}
