export * from './client/client.ts';
export type { RunRecord } from './tasks/recorder.ts';
export * from './tasks/records.ts';
export * from './tasks/runner.ts';
export type { TaskContext, TaskHandler } from './tasks/task-run.ts';
export { failure, type Verdict } from './tasks/verdict.ts';
export { UsageCommand } from './usage-command.ts';
