import type { CheckState } from '../checks/checks.ts';
import type { Snippet } from '../knowledge/retrieval.ts';
import type { IssueHistory } from '../knowledge/retrospective.ts';
import type { State } from '../states.ts';
import type { TaskType } from '../task-types.ts';

const PRIORITY: Record<TaskType, number> = {
  merge: 10,
  review: 20,
  develop: 30,
  plan: 40,
  analyze: 50,
  retrospect: 80,
  'code-map-scan': 90,
};

const URGENT_BONUS = 5;

/** Priority of a task; lower values are claimed first, so that nearly finished issues precede new ones. */
export const priorityOf = (taskType: TaskType, urgent = false): number =>
  PRIORITY[taskType] - (urgent ? URGENT_BONUS : 0);

/** Name of the agent for each task type, as it appears in events, costs and estimates. */
export const AGENT_OF: Record<TaskType, string> = {
  analyze: 'analyzer',
  plan: 'planner',
  develop: 'developer',
  review: 'reviewer',
  merge: 'merger',
  retrospect: 'retrospector',
  'code-map-scan': 'code-mapper',
};

/** The data that a worker gets with its task. */
export interface TaskPayload {
  issue: { number: number; title: string; body: string; url: string; labels: string[]; author: string | null } | null;
  repo: { slug: string; cloneUrl: string; defaultBranch: string; setupCommand: string | null };
  branch: string | null;
  pr: { number: number; url: string; headSha: string | null; headRef: string; title: string; body: string } | null;
  /** Checks of the head of the pull request, by name; `logTail` = the last lines of a failed one. */
  checks?:
    | { name: string; state: CheckState; conclusion: string | null; url: string | null; logTail: string | null }[]
    | undefined;
  plan: { text: string; plannedFiles: string[] } | null;
  /** Reviewers' requests since the last submission, oldest first. */
  reviewComments: { author: string; body: string; path: string | null; line: number | null }[];
  /** The reasons for which people rejected the plan, oldest first; empty after its approval. */
  planRejections?: { author: string; body: string }[] | undefined;
  /** People's answers to the pipeline's question, oldest first. */
  answers: { author: string; body: string }[];
  /** Items about the repo that match the issue, most relevant first. */
  snippets: Snippet[];
  instructions: string | null;
  previousAttempts: { attempt: number; errorMessage: string | null; outcome: string | null }[];
  /** The state from which the outcome will be decided. */
  state: State | null;
  /** Summary of the issue for its retrospective; null for other tasks. */
  history: IssueHistory | null;
}
