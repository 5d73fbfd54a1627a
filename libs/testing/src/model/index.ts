/** The parts of the model for tests of whole services: the steps and the invariants. */

export { PEOPLE, type Person } from './host/state.ts';
export { modelSteps } from './model-steps.ts';
export { runModel } from './run-model.ts';
export { type Acts, type Calls, callsAskedAgain, type Pass } from './world/acts.ts';
export { makeWorld } from './world/make-world.ts';
export type { Stage, World } from './world/world.ts';
