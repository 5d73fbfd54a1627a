export type { CallGrowth, CostInput } from '../record-inputs.ts';
export { checkRollups, type SumsCheck } from './check.ts';
export { forgetOldSums, nextDayToCheck, noteCheckedDay } from './days.ts';
export { type BookedCall, growthOf } from './deltas.ts';
export type { Stretch } from './facts.ts';
export { foldRollups, unfoldedDeltas } from './fold.ts';
