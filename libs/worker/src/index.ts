export * from './client/client.ts';
export { type GitCredentials, gitEnv } from './client/git-env.ts';
export type { AgentLogs } from './exec/agent-log.ts';
export {
  type ChildEnd,
  CONFINER_ENV,
  ContainedProcess,
  envText,
  initCommand,
  type Launch,
  quoted,
  type TaskProgram,
} from './exec/contained.ts';
export { execHandler, NO_NAMESPACE } from './exec/exec.ts';
export { type LineSplitter, splitLines } from './exec/output.ts';
export { processStarter } from './exec/process-namespace.ts';
export { type FinishedProgram, outputOf, type ProgramLimits, type RunningProgram } from './exec/program-output.ts';
export { envOf, type RunAs } from './exec/user.ts';
export * from './options.ts';
export { type Program, type ProgramContext, type ProgramWork, runProgram } from './run-program.ts';
export type { RunRecord } from './tasks/recorder.ts';
export * from './tasks/records.ts';
export * from './tasks/runner.ts';
export type { TaskContext, TaskHandler } from './tasks/task-run.ts';
export { checkedOutcome, failure, type Verdict } from './tasks/verdict.ts';
