/** Tasks that move an issue: at most one is live per issue. */
export const WORK_TASK_TYPES = ['analyze', 'plan', 'develop', 'review', 'merge'] as const;
/** Side tasks; they never hold an issue. */
export const SIDE_TASK_TYPES = ['retrospect', 'code-map-scan'] as const;
export const TASK_TYPES = [...WORK_TASK_TYPES, ...SIDE_TASK_TYPES] as const;

export type WorkTaskType = (typeof WORK_TASK_TYPES)[number];
export type SideTaskType = (typeof SIDE_TASK_TYPES)[number];
export type TaskType = (typeof TASK_TYPES)[number];

export const isSideTask = (taskType: TaskType): taskType is SideTaskType =>
  (SIDE_TASK_TYPES as readonly string[]).includes(taskType);

/** Why a pending task may not be claimed now; null = it may. Held tasks still count as pending on the wire. */
export const HOLDS = ['paused', 'budget', 'backoff', 'quota', 'handover'] as const;
export type Hold = (typeof HOLDS)[number];

/** Prefix of every branch on which agents work. */
export const OWN_BRANCH_PREFIX = 'svc/issue-';

/** The branch on which the agents of one issue work. */
export const branchOf = (issueNumber: number): string => `${OWN_BRANCH_PREFIX}${issueNumber}`;
