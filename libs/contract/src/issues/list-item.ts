import { type IssueListItem as DomainItem, ERROR_CLASSES, LIST_CAPS, STATES, TASK_TYPES } from '@pipeline/domain';
import { z } from 'zod';
import { Timestamp } from '../wire/envelopes.ts';

/** Filter values for the state of listed issues. */
export const ISSUE_FILTERS = ['open', 'blocked', 'paused', ...STATES] as const;

/** One row of an issue list. */
export const IssueListItem = z
  .object({
    issueNumber: z.int(),
    title: z.string().meta({ description: `Truncated to ${LIST_CAPS.title} characters.` }),
    url: z.string(),
    state: z.enum(STATES),
    isBlocked: z.boolean(),
    isPaused: z.boolean(),
    blockReason: z.string().nullable(),
    blockClassification: z.enum(ERROR_CLASSES).nullable(),
    stateEnteredAt: Timestamp.nullable(),
    currentStatus: z
      .string()
      .nullable()
      .meta({
        description: `Latest status message of the agent, truncated to ${LIST_CAPS.status} characters; updated at most every 5 seconds.`,
      }),
    activeTaskType: z.enum(TASK_TYPES).nullable().meta({ description: 'Type of the pending or claimed task.' }),
    assignedAgent: z
      .string()
      .nullable()
      .meta({ description: 'Agent of the claimed task. Null while no task is claimed.' }),
    prNumber: z
      .int()
      .nullable()
      .meta({ description: 'Number of the open pull request, or of the latest one when none is open.' }),
    labels: z.array(z.string()).meta({ description: `At most ${LIST_CAPS.labels} labels.` }),
    parentIssueNumber: z.int().nullable().meta({ description: 'Number of the parent epic.' }),
    dependsOn: z.array(z.int()).meta({
      description: `Numbers of issues in this repo that this issue depends on, including completed ones; at most ${LIST_CAPS.dependsOn}.`,
    }),
    costUsd: z.number().meta({ description: 'Total cost to date in USD; updated at most every 5 seconds.' }),
    createdAt: Timestamp.meta({ description: 'Creation time on the version-control host.' }),
    updatedAt: Timestamp,
  })
  .meta({ id: 'IssueListItem' });

// The store keeps serialized rows of the domain type; this assignment keeps both types in step.
const wire: (item: DomainItem) => z.input<typeof IssueListItem> = (item) => item;
void wire;
