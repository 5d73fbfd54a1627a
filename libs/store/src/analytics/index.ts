export * from './events.ts';
export * from './funnel.ts';
export * from './merged.ts';
export * from './reliability.ts';
export type { AnalyticsScope } from './scope.ts';
export * from './spending.ts';
export { countEntered, type StateChange, stateChanges } from './states.ts';
