import type { Reply } from '../../api/types.ts';

export type HostWrite = Reply<'listProjections'>['projections'][number];
type Action = HostWrite['action'];

const list = (labels: readonly string[]): string => labels.join(', ');

/** Returns what a write does on the host, in words. */
export function writeWords(action: Action): string {
  switch (action.type) {
    case 'addLabels':
      return `add the labels ${list(action.labels)}`;
    case 'removeLabels':
      return `remove the labels ${list(action.labels)}`;
    case 'swapLabels':
      return [
        action.add.length > 0 && `add the labels ${list(action.add)}`,
        action.remove.length > 0 && `remove ${list(action.remove)}`,
      ]
        .filter(Boolean)
        .join(' and ');
    case 'closeIssue':
      return `close the issue as ${action.reason.replace('_', ' ')}`;
    case 'reopenIssue':
      return 'reopen the issue';
    case 'postComment':
      return `comment: ${firstLine(action.body)}`;
    case 'updateComment':
      return `update the comment: ${firstLine(action.body)}`;
    case 'createIssue':
    case 'createPR':
      return `${action.type === 'createPR' ? 'open a pull request' : 'open an issue'}: ${firstLine(action.title)}`;
    case 'updatePR':
      return `update pull request #${action.prNumber}`;
    case 'mergePR':
      return `merge pull request #${action.prNumber} (${action.method})`;
    case 'closePR':
      return `close pull request #${action.prNumber}`;
    case 'submitReview':
      return `review pull request #${action.prNumber}: ${action.event.replace('_', ' ')}`;
    case 'requestReview':
      return `request a review of pull request #${action.prNumber} from ${list(action.reviewers)}`;
    default:
      return spaced(action.type);
  }
}

/** `setCommitStatus` is `set commit status`. */
const spaced = (type: string): string => type.replaceAll(/([A-Z]+)/g, ' $1').toLowerCase();

const MOST_CHARACTERS = 100;

function firstLine(text: string): string {
  const line = (text.split('\n', 1)[0] ?? '').replaceAll('**', '');
  return line.length > MOST_CHARACTERS ? `${line.slice(0, MOST_CHARACTERS)}…` : line;
}
