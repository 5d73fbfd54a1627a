import { type IssueListItem as DomainItem, ERROR_CLASSES, LIST_CAPS, STATES, TASK_TYPES } from '@pipeline/domain';
import { z } from 'zod';
import { Timestamp } from '../wire/envelopes.ts';

/** What a list of issues can be cut down to. */
export const ISSUE_FILTERS = ['open', 'blocked', 'paused', ...STATES] as const;

/** One row of a list of issues. */
export const IssueListItem = z
  .object({
    issueNumber: z.int(),
    title: z.string().meta({ description: `Cut at ${LIST_CAPS.title} characters.` }),
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
        description: `What its agent said last, cut at ${LIST_CAPS.status} characters; renewed at most every five seconds.`,
      }),
    activeTaskType: z.enum(TASK_TYPES).nullable().meta({ description: 'Of the task that waits or is worked on.' }),
    assignedAgent: z.string().nullable().meta({ description: 'Null while no worker has its task.' }),
    prNumber: z.int().nullable().meta({ description: 'Its open pull request, else its last one.' }),
    labels: z.array(z.string()).meta({ description: `At most ${LIST_CAPS.labels}.` }),
    parentIssueNumber: z.int().nullable().meta({ description: 'The epic that it is a part of.' }),
    dependsOn: z.array(z.int()).meta({
      description: `Issues of this repo that it was found to depend on, done ones too; at most ${LIST_CAPS.dependsOn}.`,
    }),
    costUsd: z.number().meta({ description: 'So far; renewed at most every five seconds.' }),
    createdAt: Timestamp.meta({ description: 'On the host.' }),
    updatedAt: Timestamp,
  })
  .meta({ id: 'IssueListItem' });

// Bodies are stored as text where the domain's type is written, so the two may not drift apart.
const wire: (item: DomainItem) => z.input<typeof IssueListItem> = (item) => item;
void wire;
