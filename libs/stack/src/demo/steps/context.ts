import type { OutcomeName, TaskPayload } from '@pipeline/domain';
import type { ExecTask } from '@pipeline/worker';
import { type Choice, chooseChore, makeChore } from '../chores/choose.ts';
import type { Chore, Edit, Tree } from '../chores/chore.ts';
import { crowded } from '../chores/crowded.ts';
import { AgentFailure } from '../failure.ts';
import type { Scenario } from '../scenarios.ts';
import type { WorkFiles } from '../work-files.ts';
import { parsePlan } from './plan-text.ts';

/** Verdict of the agent. */
export interface Outcome {
  outcome: OutcomeName;
  result: Record<string, unknown>;
}

export interface StepContext {
  task: ExecTask;
  issue: NonNullable<TaskPayload['issue']>;
  scenario: Scenario;
  files: WorkFiles;
  /** Files with markers of conflicts. */
  conflicts: readonly string[];
}

export interface StepResult {
  outcome: Outcome;
  /** Files that the agent writes. */
  edits?: Edit[];
  /** Messages of the agent. */
  texts?: string[];
}

export type Step = (context: StepContext) => Promise<StepResult>;

export const outcome = (name: OutcomeName, result: Record<string, unknown> = {}): Outcome => ({
  outcome: name,
  result,
});

export const only = (name: OutcomeName, result: Record<string, unknown> = {}): StepResult => ({
  outcome: outcome(name, result),
});

/** @throws AgentFailure permanent: every step but a repository's own is about an issue. */
export function requireIssue(task: ExecTask): StepContext['issue'] {
  if (task.payload.issue) return task.payload.issue;
  throw new AgentFailure('permanent', `a ${task.taskType} task without an issue: the demo agent works on issues only`);
}

/** Returns the chore to do: that of the plan, else that of the issue. */
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

/** The chore of a step that comes after planning. @throws AgentFailure permanent when none is named. */
export function requireChore(context: StepContext, tree: Tree): Chore {
  const choice = chosen(context, tree);
  if ('chore' in choice) return choice.chore;
  throw new AgentFailure('permanent', `neither plan nor issue names a chore. ${choice.question}`);
}
