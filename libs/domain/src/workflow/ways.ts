import type { State } from '../states.ts';
import type { WorkflowSnapshot } from './workflow.ts';

type Next = (state: State) => State[];

/** The states reachable from the first one, which is included. */
export const reachableFrom = ({ edges }: WorkflowSnapshot, start: State): Set<State> =>
  walk(start, (state) => edges.filter(({ from }) => from === state).map(({ to }) => to));

/** The states from which edges lead to this one, itself included. */
export const statesThatReach = ({ edges }: WorkflowSnapshot, end: State): Set<State> =>
  walk(end, (state) => edges.filter(({ to }) => to === state).map(({ from }) => from));

function walk(start: State, next: Next): Set<State> {
  const seen = new Set([start]);
  // A set that grows during iteration is iterated to its new end.
  for (const state of seen) for (const other of next(state)) seen.add(other);
  return seen;
}

/** Number of issues by state. */
type Standing = Partial<Record<State, number>>;

/**
 * The effects of a new workflow on existing issues; one line each.
 * @param before the previous workflow; null = none.
 */
export function effectOnIssues(after: WorkflowSnapshot, before: WorkflowSnapshot | null, standing: Standing): string[] {
  return (Object.entries(standing) as [State, number][]).flatMap(([name, count]) => {
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
