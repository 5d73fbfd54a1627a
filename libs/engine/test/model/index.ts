/** The parts of the model for tests of whole services: the steps and the invariants. */
export { type Acts, type Calls, callsAskedAgain, type Pass } from './acts.ts';
export { PEOPLE, type Person } from './host-state.ts';
export { modelSteps, runModel } from './run.ts';
export { makeWorld, type Stage, type World } from './world.ts';
