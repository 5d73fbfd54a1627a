import { MINUTE_MS, type State, type Trigger } from '@pipeline/domain';

/** A way out of a state. `origin` = the state that the stop remembers. */
export interface Way {
  to: State | 'origin';
  trigger: Trigger;
  by: 'agent' | 'workflow-engine' | 'operator' | 'system';
  weight: number;
}

const agent = (to: State, trigger: Trigger, weight: number): Way => ({ to, trigger, by: 'agent', weight });
const engine = (to: Way['to'], trigger: Trigger, weight: number): Way => ({
  to,
  trigger,
  by: 'workflow-engine',
  weight,
});
const person = (to: Way['to'], trigger: Trigger, weight: number): Way => ({ to, trigger, by: 'operator', weight });

/** Edges that issues take from each state, with their frequencies. */
export const WAYS: Record<State, readonly Way[]> = {
  new: [engine('analyzing', 'admitted', 1)],
  analyzing: [
    agent('planning', 'analyzed', 80),
    agent('waiting-for-subtasks', 'split', 3),
    agent('needs-clarification', 'needs-clarification', 5),
    agent('dependency-blocked', 'depends', 4),
    agent('failure-blocked', 'exhausted', 4),
    agent('done', 'not-planned', 3),
    person('done', 'cancelled', 1),
  ],
  planning: [
    agent('ready-for-dev', 'planned', 86),
    agent('needs-clarification', 'needs-clarification', 4),
    agent('dependency-blocked', 'depends', 4),
    agent('failure-blocked', 'exhausted', 5),
    person('done', 'host-closed', 1),
  ],
  'ready-for-dev': [
    agent('in-review', 'submitted', 85),
    agent('planning', 'replan', 3),
    agent('needs-clarification', 'needs-clarification', 2),
    agent('dependency-blocked', 'depends', 2),
    agent('failure-blocked', 'exhausted', 6),
    person('done', 'host-merged', 1),
    person('done', 'cancelled', 1),
  ],
  'in-review': [
    agent('merge-pending', 'approved', 60),
    agent('changes-requested', 'changes-requested', 26),
    agent('human-review-ready', 'needs-human', 5),
    agent('failure-blocked', 'exhausted', 3),
    person('changes-requested', 'review-changes-requested', 2),
    person('ready-for-dev', 'reimplement', 2),
    person('failure-blocked', 'pr-closed', 1),
    person('done', 'host-merged', 1),
  ],
  'changes-requested': [
    agent('in-review', 'submitted', 91),
    agent('planning', 'replan', 2),
    agent('failure-blocked', 'exhausted', 6),
    person('human-review-ready', 'operator', 1),
  ],
  'merge-pending': [
    engine('done', 'merged', 85),
    agent('changes-requested', 'conflict', 7),
    agent('in-review', 'not-ready', 3),
    engine('human-review-ready', 'protected', 2),
    agent('failure-blocked', 'exhausted', 2),
    person('done', 'host-merged', 1),
  ],
  'waiting-for-subtasks': [
    engine('done', 'subtasks-done', 80),
    engine('human-review-ready', 'subtasks-cancelled', 10),
    person('planning', 'operator', 10),
  ],
  'dependency-blocked': [engine('origin', 'dependencies-done', 80), person('origin', 'unblocked', 20)],
  'failure-blocked': [
    { to: 'origin', trigger: 'unblocked', by: 'system', weight: 40 },
    person('origin', 'unblocked', 50),
    person('done', 'cancelled', 10),
  ],
  'needs-clarification': [person('origin', 'clarified', 88), person('done', 'host-closed', 12)],
  'human-review-ready': [
    person('merge-pending', 'review-approved', 60),
    person('changes-requested', 'review-changes-requested', 20),
    person('done', 'host-merged', 20),
  ],
  // Most issues stay done: see how long the walk waits there.
  done: [person('new', 'reopened', 1)],
};

/** Median time in milliseconds that an issue spends in a state in which no one works on it. */
export const MEDIAN_DWELL_MS: Partial<Record<State, number>> = {
  'waiting-for-subtasks': 20 * 60 * MINUTE_MS,
  'dependency-blocked': 8 * 60 * MINUTE_MS,
  'failure-blocked': 90 * MINUTE_MS,
  'needs-clarification': 5 * 60 * MINUTE_MS,
  'human-review-ready': 6 * 60 * MINUTE_MS,
  done: 30 * 60 * MINUTE_MS,
};
