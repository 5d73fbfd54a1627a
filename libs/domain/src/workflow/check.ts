import { z } from 'zod';
import { STATES, type State } from '../states.ts';
import type { WorkTaskType } from '../task-types.ts';
import { OUTCOMES_OF, type OutcomeName } from './outcomes.ts';
import { planApprovalErrors } from './plan-approval.ts';
import { type Trigger, WorkflowSnapshot } from './workflow.ts';

/** Problems of a workflow, a line each. With errors it cannot be stored; warnings need an operator's judgement. */
export interface WorkflowCheck {
  /** Null when it cannot be parsed. */
  workflow: WorkflowSnapshot | null;
  errors: string[];
  warnings: string[];
}

/** Triggers that the engine needs for requests of the host or an operator, whatever the edges are. */
const NEEDED_STATES: readonly State[] = ['new', 'ready-for-dev', 'failure-blocked', 'done'];

/** States whose task the engine itself creates by name. */
const FIXED_WORK: Partial<Record<State, WorkTaskType>> = {
  'ready-for-dev': 'develop',
  'in-review': 'review',
  'merge-pending': 'merge',
};

/** Outcomes without which the task of a state leads nowhere; the others are optional. */
const NEEDED_OUTCOMES: Record<WorkTaskType, readonly Trigger[]> = {
  analyze: ['analyzed'],
  plan: ['planned'],
  develop: ['submitted'],
  // A finding that blocks progress redirects an approval to a person.
  review: ['approved', 'changes-requested', 'needs-human'],
  merge: ['merged', 'conflict', 'not-ready', 'protected'],
};

/** Triggers that move an issue out of states without a task. */
const NEEDED_EVENTS: Partial<Record<State, readonly Trigger[]>> = {
  new: ['admitted'],
  'needs-clarification': ['clarified'],
  'dependency-blocked': ['dependencies-done', 'unblocked'],
  'failure-blocked': ['unblocked'],
  'waiting-for-subtasks': ['subtasks-done', 'subtasks-cancelled'],
  'human-review-ready': ['review-approved', 'review-changes-requested'],
};

/** These triggers may leave a state by several edges: the origin of the issue decides, or the operator. */
const MANY_TARGETS: readonly Trigger[] = ['operator', 'clarified', 'unblocked', 'dependencies-done'];

/** Validates a workflow: its names, its shape, and that every issue can reach the end. */
export function checkWorkflow(document: unknown): WorkflowCheck {
  const parsed = WorkflowSnapshot.safeParse(document);
  if (!parsed.success) return { workflow: null, errors: parsed.error.issues.map(lineOf), warnings: [] };
  const workflow = parsed.data;
  const shape = [...statesWrong(workflow), ...edgesWrong(workflow)];
  // With wrong states the edges are not checked: their errors would only be repeated.
  const errors =
    shape.length > 0 ? shape : [...workWrong(workflow), ...planApprovalErrors(workflow), ...waysWrong(workflow)];
  return { workflow, errors, warnings: shape.length > 0 ? [] : deadOutcomes(workflow) };
}

function lineOf(issue: z.core.$ZodIssue): string {
  const place = z.core.toDotPath(issue.path) || 'workflow';
  if (issue.code !== 'invalid_value') return `${place}: ${issue.message}`;
  return `${place}: must be one of ${issue.values.map(String).join(', ')}`;
}

function statesWrong({ states }: WorkflowSnapshot): string[] {
  const names = states.map(({ name }) => name);
  return [
    ...STATES.filter((name) => names.indexOf(name) !== names.lastIndexOf(name)).map(
      (name) => `${name} is listed twice`,
    ),
    ...NEEDED_STATES.filter((name) => !names.includes(name)).map(
      (name) => `state ${name} is missing: the engine needs it`,
    ),
    ...(names.includes('merge-pending') && !names.includes('in-review')
      ? ['merge-pending needs in-review: nothing is merged that was not reviewed']
      : []),
    ...states.flatMap(({ name, kind, taskType }) => {
      const wrong: string[] = [];
      if ((kind === 'terminal') !== (name === 'done'))
        wrong.push(`${name} is ${kind}: done, and only done, is terminal`);
      if (taskType !== null && kind !== 'active')
        wrong.push(`${name} is ${kind}, so it cannot have the task ${taskType}`);
      const fixed = FIXED_WORK[name];
      if (fixed && taskType !== fixed) wrong.push(`the task of ${name} must be ${fixed}`);
      if (taskType === 'merge' && name !== 'merge-pending') wrong.push(`${name} cannot merge: only merge-pending can`);
      if (kind === 'active' && taskType === null && name !== 'new') wrong.push(`${name} is active, so it needs a task`);
      return wrong;
    }),
  ];
}

function edgesWrong({ states, edges }: WorkflowSnapshot): string[] {
  const known = new Set(states.map(({ name }) => name));
  const seen = new Map<string, State>();
  return edges.flatMap(({ from, to, trigger }) => {
    const edge = `${from} -> ${to} (${trigger})`;
    const strange = [from, to].filter((name) => !known.has(name));
    if (strange.length > 0) return strange.map((name) => `edge ${edge}: the workflow has no state ${name}`);
    const key = MANY_TARGETS.includes(trigger) ? edge : `${from} ${trigger}`;
    const other = seen.get(key);
    seen.set(key, to);
    if (other === to) return [`edge ${edge} is listed twice`];
    return other ? [`edge ${edge}: ${trigger} leads from ${from} to ${other} already`] : [];
  });
}

/** The edges that the engine needs for the task of each state. */
function workWrong(workflow: WorkflowSnapshot): string[] {
  return workflow.states.flatMap(({ name, taskType }) => {
    const work: Trigger[] = taskType === null ? [] : [...NEEDED_OUTCOMES[taskType], 'exhausted'];
    return [...work, ...(NEEDED_EVENTS[name] ?? [])]
      .filter((trigger) => !leaves(workflow, name, trigger))
      .map((trigger) => `an edge from ${name} on ${trigger} is missing: the engine needs it`);
  });
}

function waysWrong(workflow: WorkflowSnapshot): string[] {
  const reached = reachableFrom(workflow, 'new');
  const ending = statesThatReach(workflow, 'done');
  return workflow.states.flatMap(({ name }) => {
    if (!reached.has(name)) return [`${name} cannot be reached from new`];
    return ending.has(name) ? [] : [`no way leads from ${name} to done`];
  });
}

/** Outcomes that agents may report and that would end as dead letters. */
function deadOutcomes(workflow: WorkflowSnapshot): string[] {
  return workflow.states.flatMap(({ name, taskType }) => {
    if (taskType === null) return [];
    const outcomes: readonly OutcomeName[] = OUTCOMES_OF[taskType];
    return outcomes
      .filter((outcome) => outcome !== 'mergeable' && !NEEDED_OUTCOMES[taskType].includes(outcome))
      .filter((outcome) => !leaves(workflow, name, outcome))
      .map((outcome) => `${name}: an agent that reports ${outcome} makes a dead letter, for no edge leaves on it`);
  });
}

const leaves = ({ edges }: WorkflowSnapshot, from: State, trigger: Trigger): boolean =>
  edges.some((edge) => edge.from === from && edge.trigger === trigger);

type Next = (state: State) => State[];

/** The states reachable from the first one, which is included. */
const reachableFrom = ({ edges }: WorkflowSnapshot, start: State): Set<State> =>
  walk(start, (state) => edges.filter(({ from }) => from === state).map(({ to }) => to));

/** The states from which edges lead to this one, itself included. */
const statesThatReach = ({ edges }: WorkflowSnapshot, end: State): Set<State> =>
  walk(end, (state) => edges.filter(({ to }) => to === state).map(({ from }) => from));

function walk(start: State, next: Next): Set<State> {
  const seen = new Set([start]);
  // A set that grows during iteration is iterated to its new end.
  for (const state of seen) for (const other of next(state)) seen.add(other);
  return seen;
}

/** Number of issues by state. */
type IssueCounts = Partial<Record<State, number>>;

/**
 * The effects of a new workflow on existing issues; one line each.
 * @param before the previous workflow; null = none.
 */
export function effectOnIssues(
  after: WorkflowSnapshot,
  before: WorkflowSnapshot | null,
  counts: IssueCounts,
): string[] {
  return (Object.entries(counts) as [State, number][]).flatMap(([name, count]) => {
    const issues = count === 1 ? '1 issue is' : `${count} issues are`;
    const now = after.states.find((state) => state.name === name);
    if (!now) return [`${issues} in ${name}, which this workflow does not have: only a cancel or the host moves them`];
    const was = before?.states.find((state) => state.name === name);
    if (was && was.taskType !== now.taskType)
      return [`${issues} in ${name}, ${workChanges(was.taskType, now.taskType)}`];
    const lost = before ? edgesLost(after, before, name) : [];
    return lost.length === 0 ? [] : [`${issues} in ${name}, which loses its edges on ${lost.join(', ')}`];
  });
}

function workChanges(was: string | null, now: string | null): string {
  if (now === null) return `whose task ${was} ends: what agents still report of it becomes a dead letter`;
  if (was === null) return `which gets the task ${now}: retry the issues that stand there, or it does not begin`;
  return `whose task changes from ${was} to ${now}: what agents still report of ${was} becomes a dead letter`;
}

function edgesLost(after: WorkflowSnapshot, before: WorkflowSnapshot, state: State): string[] {
  const kept = new Set(after.edges.filter(({ from }) => from === state).map(({ trigger }) => trigger));
  const had = before.edges.filter(({ from }) => from === state).map(({ trigger }) => trigger);
  return [...new Set(had)].filter((trigger) => !kept.has(trigger));
}
