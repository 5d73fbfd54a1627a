export * from './client.ts';
export type { RunRecord } from './recorder.ts';
export * from './records.ts';
export * from './runner.ts';
export type { TaskContext, TaskHandler } from './task-run.ts';
export { UsageCommand } from './usage-command.ts';
export { failure, type Verdict } from './verdict.ts';
