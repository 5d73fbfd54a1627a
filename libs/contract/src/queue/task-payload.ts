import { CHECK_STATES, type TaskPayload as DomainTaskPayload, STATES } from '@pipeline/domain';
import { z } from 'zod';
import { IssueHistory } from '../knowledge/issue-history.ts';
import { Snippet } from '../knowledge/retrieval.ts';

/** Task payload for the worker. The compiler checks below that it equals the domain type. */
export const TaskPayload = z
  .object({
    issue: z
      .object({
        number: z.int().positive(),
        title: z.string(),
        body: z.string(),
        url: z.string(),
        labels: z.array(z.string()),
        author: z.string().nullable(),
      })
      .nullable(),
    repo: z.object({
      slug: z.string(),
      cloneUrl: z.string(),
      defaultBranch: z.string(),
      setupCommand: z.string().nullable(),
    }),
    branch: z.string().nullable(),
    pr: z
      .object({
        number: z.int().positive(),
        url: z.string(),
        headSha: z.string().nullable(),
        headRef: z.string(),
        title: z.string(),
        body: z.string(),
      })
      .nullable(),
    checks: z
      .array(
        z.object({
          name: z.string(),
          state: z.enum(CHECK_STATES),
          conclusion: z.string().nullable(),
          url: z.string().nullable(),
          logTail: z.string().nullable().meta({ description: 'Last lines of the log of a failed check.' }),
        }),
      )
      .optional()
      .meta({ description: 'Checks and commit statuses of the head of the pull request, by name.' }),
    plan: z.object({ text: z.string(), plannedFiles: z.array(z.string()) }).nullable(),
    reviewComments: z
      .array(
        z.object({
          author: z.string(),
          body: z.string(),
          path: z.string().nullable(),
          line: z.int().nullable(),
        }),
      )
      .meta({ description: 'Review comments since the last submission, oldest first.' }),
    planRejections: z
      .array(z.object({ author: z.string(), body: z.string() }))
      .optional()
      .meta({ description: 'Reasons for which people rejected the plan, oldest first. Empty after its approval.' }),
    answers: z
      .array(z.object({ author: z.string(), body: z.string() }))
      .meta({ description: 'Answers to the clarification request of the pipeline, oldest first.' }),
    snippets: z.array(Snippet).meta({ description: 'Intelligence items relevant to the issue, most relevant first.' }),
    instructions: z.string().nullable(),
    previousAttempts: z.array(
      z.object({ attempt: z.int(), errorMessage: z.string().nullable(), outcome: z.string().nullable() }),
    ),
    state: z
      .enum(STATES)
      .nullable()
      .meta({ description: 'State of the issue when the task was claimed; the outcome is evaluated from it.' }),
    history: IssueHistory.nullable().meta({ description: 'Set for retrospective tasks only.' }),
  })
  .meta({ id: 'TaskPayload' });

type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;
const sameAsDomain: Same<z.infer<typeof TaskPayload>, DomainTaskPayload> = true;
void sameAsDomain;
