import { z } from 'zod';
import { STATES, type State } from '../states.ts';
import { WORK_TASK_TYPES } from '../task-types.ts';
import { OUTCOME_NAMES } from './outcomes.ts';

/** The triggers of transitions besides the outcomes that agents report. */
const EVENT_TRIGGERS = [
  'admitted',
  'operator',
  'cancelled',
  'reimplement',
  'clarified',
  'plan-approved',
  'plan-rejected',
  'unblocked',
  'dependencies-done',
  'subtasks-done',
  'subtasks-cancelled',
  'exhausted',
  'merged',
  'protected',
  'review-approved',
  'review-changes-requested',
  'review-dismissed',
  'head-moved',
  'behind',
  'checks-failed',
  'pr-closed',
  'host-merged',
  'host-closed',
  'reopened',
] as const;

export const TRIGGERS = [...OUTCOME_NAMES, ...EVENT_TRIGGERS] as const;
export type Trigger = (typeof TRIGGERS)[number];

const ACCEPTING: ReadonlySet<Trigger> = new Set(['merged', 'host-merged', 'subtasks-done']);

/** Returns whether a transition to `done` with this trigger accepts the result of the issue. */
export const isAccepting = (trigger: Trigger): boolean => ACCEPTING.has(trigger);

const STATE_KINDS = ['active', 'waiting', 'blocked', 'human', 'terminal'] as const;

const WorkflowState = z.object({
  name: z.enum(STATES),
  kind: z.enum(STATE_KINDS),
  taskType: z.enum(WORK_TASK_TYPES).nullable(),
  warnAfterMinutes: z.number().positive().nullable(),
});

const Edge = z.object({ from: z.enum(STATES), to: z.enum(STATES), trigger: z.enum(TRIGGERS) });

/** A versioned workflow of one repo, as data, so that each repo can have its own. */
export const WorkflowSnapshot = z.object({
  version: z.int().positive(),
  states: z.array(WorkflowState),
  edges: z.array(Edge),
});
export type WorkflowSnapshot = z.infer<typeof WorkflowSnapshot>;

type StateRow = [State, WorkflowSnapshot['states'][number]['kind'], (typeof WORK_TASK_TYPES)[number] | null];

const STATE_ROWS: StateRow[] = [
  ['new', 'active', null],
  ['analyzing', 'active', 'analyze'],
  ['planning', 'active', 'plan'],
  ['ready-for-dev', 'active', 'develop'],
  ['in-review', 'active', 'review'],
  ['changes-requested', 'active', 'develop'],
  ['merge-pending', 'active', 'merge'],
  ['waiting-for-subtasks', 'waiting', null],
  ['dependency-blocked', 'blocked', null],
  ['failure-blocked', 'blocked', null],
  ['needs-clarification', 'human', null],
  ['human-review-ready', 'human', null],
  ['done', 'terminal', null],
];

/** `from -> to: triggers`. */
const EDGE_ROWS: [State, State, ...Trigger[]][] = [
  ['new', 'analyzing', 'admitted'],
  ['new', 'needs-clarification', 'operator'],
  ['new', 'done', 'operator'],
  ['analyzing', 'planning', 'analyzed'],
  ['analyzing', 'waiting-for-subtasks', 'split'],
  ['analyzing', 'needs-clarification', 'needs-clarification'],
  ['analyzing', 'dependency-blocked', 'depends'],
  ['analyzing', 'failure-blocked', 'exhausted'],
  ['analyzing', 'done', 'not-planned'],
  ['needs-clarification', 'analyzing', 'clarified'],
  ['needs-clarification', 'planning', 'clarified'],
  ['needs-clarification', 'ready-for-dev', 'clarified'],
  ['needs-clarification', 'changes-requested', 'clarified'],
  ['needs-clarification', 'done', 'operator'],
  ['planning', 'ready-for-dev', 'planned'],
  ['planning', 'waiting-for-subtasks', 'split'],
  ['planning', 'needs-clarification', 'needs-clarification'],
  ['planning', 'dependency-blocked', 'depends'],
  ['planning', 'failure-blocked', 'exhausted'],
  ['ready-for-dev', 'in-review', 'submitted'],
  ['ready-for-dev', 'planning', 'replan'],
  ['ready-for-dev', 'needs-clarification', 'needs-clarification'],
  ['ready-for-dev', 'dependency-blocked', 'depends'],
  ['ready-for-dev', 'failure-blocked', 'exhausted'],
  ['in-review', 'changes-requested', 'changes-requested', 'review-changes-requested'],
  ['in-review', 'human-review-ready', 'needs-human'],
  ['in-review', 'merge-pending', 'approved'],
  ['in-review', 'failure-blocked', 'exhausted'],
  ['changes-requested', 'in-review', 'submitted'],
  ['changes-requested', 'ready-for-dev', 'operator'],
  ['changes-requested', 'planning', 'replan'],
  ['changes-requested', 'needs-clarification', 'needs-clarification'],
  ['changes-requested', 'dependency-blocked', 'depends'],
  ['changes-requested', 'human-review-ready', 'operator'],
  ['changes-requested', 'failure-blocked', 'exhausted'],
  ['human-review-ready', 'merge-pending', 'review-approved'],
  ['human-review-ready', 'changes-requested', 'review-changes-requested'],
  ['human-review-ready', 'done', 'operator'],
  ['merge-pending', 'done', 'merged'],
  ['merge-pending', 'changes-requested', 'conflict', 'review-changes-requested'],
  ['merge-pending', 'in-review', 'not-ready'],
  ['merge-pending', 'human-review-ready', 'protected'],
  ['merge-pending', 'failure-blocked', 'exhausted'],
  ['waiting-for-subtasks', 'planning', 'operator'],
  ['waiting-for-subtasks', 'human-review-ready', 'subtasks-cancelled'],
  ['waiting-for-subtasks', 'done', 'subtasks-done'],
  ['waiting-for-subtasks', 'failure-blocked', 'exhausted'],
  ['dependency-blocked', 'analyzing', 'dependencies-done', 'unblocked'],
  ['dependency-blocked', 'planning', 'dependencies-done', 'unblocked'],
  ['dependency-blocked', 'ready-for-dev', 'dependencies-done', 'unblocked'],
  ['dependency-blocked', 'done', 'operator'],
  ['failure-blocked', 'analyzing', 'unblocked'],
  ['failure-blocked', 'planning', 'unblocked'],
  ['failure-blocked', 'ready-for-dev', 'unblocked'],
  ['failure-blocked', 'in-review', 'unblocked'],
  ['failure-blocked', 'changes-requested', 'unblocked'],
  ['failure-blocked', 'merge-pending', 'unblocked'],
  ['failure-blocked', 'human-review-ready', 'unblocked'],
  ['failure-blocked', 'waiting-for-subtasks', 'unblocked'],
  ['failure-blocked', 'done', 'operator'],
  ['done', 'new', 'reopened'],
];

/** The initial workflow of a repo. It sets no warning limits, so that those of the configuration apply. */
export const DEFAULT_WORKFLOW: WorkflowSnapshot = {
  version: 1,
  states: STATE_ROWS.map(([name, kind, taskType]) => ({ name, kind, taskType, warnAfterMinutes: null })),
  edges: EDGE_ROWS.flatMap(([from, to, ...triggers]) => triggers.map((trigger) => ({ from, to, trigger }))),
};

/** Returns whether the approval of an agent leads to the merge, without a person. */
export const mergesWithoutPerson = ({ edges }: WorkflowSnapshot): boolean =>
  edges.some(({ to, trigger }) => trigger === 'approved' && to === 'merge-pending');

/** Every state an operator may move the issue to: all outgoing edges, whatever their trigger. */
export function validTargets(workflow: WorkflowSnapshot, from: State): State[] {
  const targets = new Set(workflow.edges.filter((edge) => edge.from === from).map((edge) => edge.to));
  return STATES.filter((state) => targets.has(state));
}

/** The task of a state; null for states in which only a person or another issue can act. */
export const taskTypeOf = (workflow: WorkflowSnapshot, state: State): (typeof WORK_TASK_TYPES)[number] | null =>
  workflow.states.find((row) => row.name === state)?.taskType ?? null;

/** True for states whose task can wait for other issues. */
export const mayDepend = (workflow: WorkflowSnapshot, state: State): boolean =>
  workflow.edges.some((edge) => edge.from === state && edge.trigger === 'depends');
