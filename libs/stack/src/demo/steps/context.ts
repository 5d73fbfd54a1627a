import type { TaskPayload } from '@pipeline/domain';
import { branchOf } from '@pipeline/domain/tasks';
import type { AgentRecordInput, ExecTask } from '@pipeline/worker';
import type { Checkout } from '../checkout.ts';
import { type Choice, chooseChore, makeChore } from '../chores/choose.ts';
import type { Chore, Tree } from '../chores/chore.ts';
import { crowded } from '../chores/crowded.ts';
import { AgentFailure } from '../failure.ts';
import type { Scenario } from '../scenarios.ts';
import { parsePlan } from './plan-text.ts';

export type OutcomeInput = Extract<AgentRecordInput, { type: 'outcome' }>;

export interface StepContext {
  task: ExecTask;
  issue: NonNullable<TaskPayload['issue']>;
  branch: string;
  scenario: Scenario;
  checkout: Checkout;
  emit(record: AgentRecordInput): void;
  pause(ms: number): Promise<void>;
}

export type Step = (context: StepContext) => Promise<OutcomeInput>;

export function outcome(name: OutcomeInput['outcome'], result: Record<string, unknown> = {}): OutcomeInput {
  return { type: 'outcome', outcome: name, result };
}

/** @throws AgentFailure permanent: every step but a repository's own is about an issue. */
export function requireIssue(task: ExecTask): StepContext['issue'] {
  if (task.payload.issue) return task.payload.issue;
  throw new AgentFailure('permanent', `a ${task.taskType} task without an issue: the demo agent works on issues only`);
}

export const workBranch = (task: ExecTask, issueNumber: number): string => task.payload.branch ?? branchOf(issueNumber);

/** What is to be done: as the plan says, else as the issue reads. */
export function chosen(context: StepContext, tree: Tree): Choice {
  const { issue, task, scenario } = context;
  const planned = task.payload.plan && parsePlan(task.payload.plan.text);
  const answers = task.payload.answers.map((answer) => answer.body);
  const choice: Choice = planned
    ? { chore: makeChore(planned.kind, planned.target) }
    : chooseChore({ title: issue.title, body: issue.body, labels: issue.labels, answers }, tree);
  if ('question' in choice || !scenario.crowded) return choice;
  return { chore: crowded(choice.chore, issue.number) };
}

/** The chore of a step that comes after planning. @throws AgentFailure permanent when nothing says which. */
export function requireChore(context: StepContext, tree: Tree): Chore {
  const choice = chosen(context, tree);
  if ('chore' in choice) return choice.chore;
  throw new AgentFailure('permanent', `neither plan nor issue names a chore. ${choice.question}`);
}
