import { type TaskPayload as DomainTaskPayload, STATES } from '@pipeline/domain';
import { z } from 'zod';
import { IssueHistory } from '../knowledge/issue-history.ts';
import { Snippet } from '../knowledge/retrieval.ts';

/** What a worker is told about its task. Its type is the domain's, held to it by the compiler below. */
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
      .meta({ description: 'What reviewers asked for since the last submission, oldest first.' }),
    answers: z
      .array(z.object({ author: z.string(), body: z.string() }))
      .meta({ description: 'Answers to the question that the pipeline asked, oldest first.' }),
    snippets: z
      .array(Snippet)
      .meta({ description: 'What is known of the repo and fits the issue, most relevant first.' }),
    instructions: z.string().nullable(),
    previousAttempts: z.array(
      z.object({ attempt: z.int(), errorMessage: z.string().nullable(), outcome: z.string().nullable() }),
    ),
    state: z.enum(STATES).nullable().meta({ description: 'The state that the outcome will be decided from.' }),
    history: IssueHistory.nullable().meta({ description: 'For a retrospective; null for other work.' }),
  })
  .meta({ id: 'TaskPayload' });

type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;
const sameAsDomain: Same<z.infer<typeof TaskPayload>, DomainTaskPayload> = true;
void sameAsDomain;
