export * from './events.ts';
export * from './funnel.ts';
export * from './merged.ts';
export * from './reliability.ts';
export { repoNames } from './repos.ts';
export type { AnalyticsScope } from './scope.ts';
export { countDone, stateChanges } from './states.ts';
