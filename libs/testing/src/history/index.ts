export { clearHistory } from './clear.ts';
export { FULL_HISTORY, type History, type HistoryOptions, simulateHistory } from './simulate.ts';
export { withoutChecks } from './without-checks.ts';
