import type { State } from '../states.ts';

/** Warning limit of a state in minutes; null = no warning. */
export type WarnAfterMinutes = Readonly<Partial<Record<State, number | null>>>;

/** The limits that apply if neither the workflow of the repository nor the configuration sets one. */
export const BUILT_IN_WARN_AFTER_MINUTES: Readonly<Record<State, number | null>> = {
  new: 60,
  analyzing: 120,
  planning: 120,
  'ready-for-dev': 480,
  'in-review': 240,
  'changes-requested': 480,
  'merge-pending': 120,
  'waiting-for-subtasks': null,
  'dependency-blocked': 1440,
  'failure-blocked': 60,
  'needs-clarification': 1440,
  'human-review-ready': 1440,
  done: null,
};

/** The limits for workflows that set none: the configured value, else the built-in one. */
export const slaLimits = (configured: WarnAfterMinutes): WarnAfterMinutes => ({
  ...BUILT_IN_WARN_AFTER_MINUTES,
  ...configured,
});
