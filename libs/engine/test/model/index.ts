/** What a test of whole processes takes from the model: what may happen, and the rules that hold whatever does. */
export { disagreements, forgotten } from './ending.ts';
export { ERRORS } from './failures.ts';
export { PEOPLE, type Person } from './host-state.ts';
export { breaches } from './invariants.ts';
export { madeTwice } from './made-once.ts';
export { FINDING, outcomeOf } from './outcomes.ts';
export type { Step } from './step.ts';
export { STEPS } from './steps.ts';
export { type Held, invocations, type World } from './world.ts';
