import { AGENT_OF, type TaskType } from '@pipeline/domain';

/** Columns of an issue that the list shows. */
export interface IssueColumns {
  issue_number: number;
  title: string;
  url: string;
  state: string;
  is_blocked: boolean;
  is_paused: boolean;
  block_reason: string | null;
  block_classification: string | null;
  state_entered_at: Date;
  current_status: string | null;
  labels: string[];
  cost_usd: string;
  host_created_at: Date;
  updated_at: Date;
}

interface AroundIssue {
  task: { task_type: TaskType; status: string } | null | undefined;
  prNumber: number | null;
  parent: number | null;
  dependsOn: readonly number[];
}

/** The item of the list, made from rows. */
export const listedIssue = (issue: IssueColumns, { task, prNumber, parent, dependsOn }: AroundIssue) => ({
  issueNumber: issue.issue_number,
  title: issue.title,
  url: issue.url,
  state: issue.state,
  isBlocked: issue.is_blocked,
  isPaused: issue.is_paused,
  blockReason: issue.block_reason,
  blockClassification: issue.block_classification,
  stateEnteredAt: issue.state_entered_at,
  currentStatus: issue.current_status,
  activeTaskType: task?.task_type ?? null,
  assignedAgent: task?.status === 'claimed' ? AGENT_OF[task.task_type] : null,
  prNumber,
  labels: issue.labels,
  parentIssueNumber: parent,
  dependsOn,
  costUsd: Number(issue.cost_usd),
  createdAt: issue.host_created_at,
  updatedAt: issue.updated_at,
});
