export { type BookedCall, growthOf } from '../../records/deltas.ts';
export type { CallGrowth, CostInput } from '../../records/inputs.ts';
export { aggregateRollups, unfoldedDeltas } from './aggregate.ts';
export { checkRollups, type SumsCheck } from './check.ts';
export { deleteOldRollups, nextDayToCheck, noteCheckedDay } from './days.ts';
export type { Stretch } from './facts.ts';
