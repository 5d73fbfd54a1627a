import { ERROR_CLASSES, STATES, TASK_TYPES } from '@pipeline/domain';
import { z } from 'zod';
import { UnreportedCosts } from '../costs/by-window.ts';

/** History of a completed issue, the input of a retrospective. */
export const IssueHistory = z
  .object({
    end: z
      .enum(['merged', 'ended'])
      .meta({ description: '`merged` = done by a merge; `ended` = done without a merge.' }),
    enteredAt: z.string(),
    endedAt: z.string().nullable(),
    changedFiles: z.array(z.string()).meta({
      description: 'Files changed by the merged pull requests, or by the last submission when none was merged.',
    }),
    pullRequests: z.array(
      z.object({
        number: z.int().positive(),
        url: z.string(),
        merged: z.boolean(),
        mergeSha: z.string().nullable(),
      }),
    ),
    reviewCycles: z.int().nonnegative().meta({ description: 'Number of reviews that requested changes.' }),
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
      .meta({ description: 'The latest 50 failures, oldest first.' }),
    costs: z.object({
      totalUsd: z.number(),
      unreportedCosts: UnreportedCosts,
      byAgent: z.array(z.object({ agent: z.string(), usd: z.number(), runs: z.int().nonnegative() })),
    }),
    timeline: z
      .array(
        z.object({
          at: z.string(),
          from: z.enum(STATES).nullable(),
          to: z.enum(STATES),
          trigger: z.string(),
          minutes: z.number().nullable().meta({ description: 'Minutes spent in the previous state.' }),
        }),
      )
      .meta({ description: 'The latest 100 transitions, oldest first.' }),
  })
  .meta({ id: 'IssueHistory' });
