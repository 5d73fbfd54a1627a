/** What the tests of whole services take from the model: what may happen, and the rules that hold whatever does. */
export { type Acts, type Calls, callsAskedAgain, type Pass } from './acts.ts';
export { PEOPLE, type Person } from './host-state.ts';
export { modelSteps, runModel } from './run.ts';
export { makeWorld, type Stage, type World } from './world.ts';
