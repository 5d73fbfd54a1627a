import { TASK_TYPES, type TaskType, type WorkTaskType } from '@pipeline/domain/tasks';
import type { AgentRecordInput, ExecTask } from '@pipeline/worker';
import { Checkout } from './checkout.ts';
import { createMeter } from './costs.ts';
import { AgentFailure } from './failure.ts';
import { gitEnv } from './git-env.ts';
import { scenarioOf } from './scenarios.ts';
import { analyze } from './steps/analyze.ts';
import { requireIssue, type Step, workBranch } from './steps/context.ts';
import { develop } from './steps/develop.ts';
import { merge } from './steps/merge.ts';
import { plan } from './steps/plan.ts';
import { retrospect } from './steps/retrospect.ts';
import { review } from './steps/review.ts';

const STEPS: Record<WorkTaskType, Step> = { analyze, plan, develop, review, merge };

/** The task types that the demo agent knows. */
export const DEMO_TASK_TYPES: readonly TaskType[] = TASK_TYPES;

export interface AgentEnvironment {
  workDir: string;
  /** For the clone URL's host, unless the URL carries its own credentials. */
  gitToken: string | null;
  /** What git's environment is made from. */
  variables: Record<string, string | undefined>;
  emit(record: AgentRecordInput): void;
  pause(ms: number): Promise<void>;
}

/**
 * Runs one task to its outcome and emits the records of the run, the cost record last but one.
 * @returns the exit code: 0 with an outcome, 1 with a failure.
 */
export async function runAgent(task: ExecTask, environment: AgentEnvironment): Promise<0 | 1> {
  const meter = createMeter();
  meter.read(JSON.stringify(task));
  const emit = (record: AgentRecordInput) => {
    meter.wrote(JSON.stringify(record));
    environment.emit(record);
  };
  try {
    const result = await perform(task, { ...environment, emit }, (text) => meter.read(text));
    environment.emit({ type: 'invocation', ...meter.invocation('completed') });
    emit(result);
    return 0;
  } catch (error) {
    environment.emit({ type: 'invocation', ...meter.invocation('error') });
    const errorClass = error instanceof AgentFailure ? error.errorClass : 'transient';
    environment.emit({
      type: 'failure',
      errorClass,
      errorMessage: error instanceof Error ? error.message : String(error),
    });
    return 1;
  }
}

async function perform(task: ExecTask, environment: AgentEnvironment, onRead: (text: string) => void) {
  if (task.taskType === 'retrospect') return retrospect(task);
  const { slug, cloneUrl, defaultBranch } = task.payload.repo;
  const env = gitEnv(environment.variables, cloneUrl, environment.gitToken);
  const checkout = await Checkout.open({ workDir: environment.workDir, slug, cloneUrl, defaultBranch, env, onRead });
  const { emit, pause } = environment;
  if (task.taskType === 'code-map-scan') {
    // The whole domain comes with it, which doubles the time of a start: only where it is needed.
    const { scan } = await import('./steps/scan.ts');
    return scan({ checkout, emit });
  }
  const issue = requireIssue(task);
  const scenario = scenarioOf(issue.labels);
  const step = STEPS[task.taskType];
  return step({ task, issue, branch: workBranch(task, issue.number), scenario, checkout, emit, pause });
}
