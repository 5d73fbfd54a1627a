import type { TaskPayload, TaskType } from '@pipeline/domain';

/** A worker's request for a task. */
export interface ClaimRequest {
  tenantId: number;
  workerId: string;
  /** The presented token; the worker must be registered with it. */
  tokenId?: string;
  taskTypes: readonly TaskType[];
  /** Agents that the worker runs: it gets compared tasks of these agents only. Absent = none. */
  agents?: readonly string[];
  /** Null = all repos of the tenant. */
  repoIds: readonly number[] | null;
  /**
   * Secret of this claim, the same in each of its retries: they get the same task and token while the claim is valid.
   */
  claimSecret?: string;
}

/** The response to a claim (interface: claim a task). */
export interface ClaimedTask {
  id: string;
  taskType: TaskType;
  repo: string;
  issueNumber: number | null;
  priority: number;
  attempt: number;
  maxAttempts: number;
  /** The agent that must do the task, because its repo compares agents; null = any. */
  agent: string | null;
  claimToken: string;
  leaseExpiresAt: string;
  payload: TaskPayload;
  promptVersion: number | null;
  maxTurns: number | null;
  /** The remaining budget of the issue; null = there is none. */
  budgetUsd: number | null;
  /** Trace of the issue, or of the task when it has none, and span of the run (W3C Trace Context). */
  traceparent: string;
}

/** The right to a claimed task: who presents the fencing token holds the claim. */
export interface ClaimToken {
  tenantId: number;
  taskId: string;
  claimToken: string;
  /** The worker token that presents it; it must have registered the worker of the claim. Absent = any. */
  tokenId?: string;
}

/** Key of requests that differ in the worker only: while one of them finds no task, none of them does. */
export function claimScope({ taskTypes, agents = [], repoIds }: ClaimRequest): string {
  const repos = repoIds ? [...repoIds].sort((a, b) => a - b).join() : 'all';
  return `${[...taskTypes].sort().join()} ${repos} ${JSON.stringify([...agents].sort())}`;
}
