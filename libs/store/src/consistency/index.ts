export { countDetected, type Detected, detect, detectStatement } from './detect.ts';
export type { Scope } from './detector.ts';
export { requestIntake, unknownIssues } from './orphan-issues.ts';
export * from './repairs.ts';
export * from './slugs.ts';
