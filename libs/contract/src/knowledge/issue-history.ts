import { ERROR_CLASSES, STATES, TASK_TYPES } from '@pipeline/domain';
import { z } from 'zod';

/** What a retrospective looks back on. */
export const IssueHistory = z
  .object({
    end: z.enum(['merged', 'ended']).meta({ description: '`ended` = done without a merge.' }),
    enteredAt: z.string(),
    endedAt: z.string().nullable(),
    changedFiles: z
      .array(z.string())
      .meta({ description: 'Of the merged pull requests, else of the last submission.' }),
    pullRequests: z.array(
      z.object({
        number: z.int().positive(),
        url: z.string(),
        merged: z.boolean(),
        mergeSha: z.string().nullable(),
      }),
    ),
    reviewCycles: z.int().nonnegative().meta({ description: 'How often changes were asked for.' }),
    failures: z
      .array(
        z.object({
          taskType: z.enum(TASK_TYPES),
          attempt: z.int().nonnegative(),
          errorClass: z.enum(ERROR_CLASSES).nullable(),
          message: z.string(),
          at: z.string().nullable(),
        }),
      )
      .meta({ description: 'The newest 50, oldest first.' }),
    costs: z.object({
      totalUsd: z.number(),
      byAgent: z.array(z.object({ agent: z.string(), usd: z.number(), runs: z.int().nonnegative() })),
    }),
    timeline: z
      .array(
        z.object({
          at: z.string(),
          from: z.enum(STATES).nullable(),
          to: z.enum(STATES),
          trigger: z.string(),
          minutes: z.number().nullable().meta({ description: 'In the state that it left.' }),
        }),
      )
      .meta({ description: 'The newest 100 moves, oldest first.' }),
  })
  .meta({ id: 'IssueHistory' });
