import type { ExecTask } from '@pipeline/worker';
import { AgentFailure } from './failure.ts';
import { scenarioOf } from './scenarios.ts';
import { analyze } from './steps/analyze.ts';
import { type Outcome, requireIssue, type Step, type StepContext } from './steps/context.ts';
import { develop } from './steps/develop.ts';
import { plan } from './steps/plan.ts';
import { retrospect } from './steps/retrospect.ts';
import { review } from './steps/review.ts';
import { WorkFiles } from './work-files.ts';

const STEPS: Partial<Record<ExecTask['taskType'], Step>> = { analyze, plan, develop, review };

const CHARS_PER_TOKEN = 4;
const USD_PER_INPUT_TOKEN = 3e-6;
const USD_PER_OUTPUT_TOKEN = 15e-6;
const SLOW_STEPS = 10;
const SLOW_STEP_MS = 2_000;
const RPC_INTERNAL_ERROR = -32_603;

/** One prompt of pipeline-agent with its task. */
export interface DemoTurn {
  /** Work tree. */
  cwd: string;
  prompt: string;
  task: unknown;
  /** Files with markers of conflicts. */
  conflicts: readonly string[];
}

/** Actions of the scripted agent that the demo uses. */
export type DemoStep =
  | { say: string }
  | { pauseMs: number }
  | { write: { path: string; text: string } }
  | { usage: { inputTokens: number; outputTokens: number; costUsd: number } }
  | { verdict: Outcome }
  | { fail: { code: number; message: string; data: { errorClass: string } } };

/** The script of the demo agent, a simulation: performs a chore on the files of the work tree instead of calling a model. */
export default async function* script(turn: DemoTurn): AsyncGenerator<DemoStep> {
  const task = turn.task as ExecTask;
  let written = 0;
  try {
    yield* slowness(task);
    const { outcome, edits = [], texts = [] } = await perform(task, turn);
    for (const { path, text } of edits) {
      written += text.length;
      yield { write: { path, text } };
    }
    for (const text of texts) yield { say: `${text}\n` };
    yield usage(turn.prompt.length, written);
    yield { verdict: outcome };
  } catch (error) {
    yield usage(turn.prompt.length, written);
    const errorClass = error instanceof AgentFailure ? error.errorClass : 'transient';
    const message = error instanceof Error ? error.message : String(error);
    yield { fail: { code: RPC_INTERNAL_ERROR, message, data: { errorClass } } };
  }
}

async function perform(task: ExecTask, { cwd, conflicts }: DemoTurn): ReturnType<Step> {
  if (task.taskType === 'retrospect') return { outcome: retrospect(task) };
  const step = STEPS[task.taskType];
  if (!step) throw new AgentFailure('permanent', `the demo agent does not know ${task.taskType} tasks`);
  const issue = requireIssue(task);
  const files = new WorkFiles(cwd, task.payload.repo.defaultBranch);
  const context: StepContext = { task, issue, scenario: scenarioOf(issue.labels), files, conflicts };
  return step(context);
}

function* slowness({ taskType, payload }: ExecTask): Generator<DemoStep> {
  if (taskType !== 'develop' || !scenarioOf(payload.issue?.labels ?? []).slow) return;
  for (let step = 1; step <= SLOW_STEPS; step += 1) {
    yield { say: `Thinking slowly, ${step} of ${SLOW_STEPS} (demo:slow)\n` };
    yield { pauseMs: SLOW_STEP_MS };
  }
}

/** Plausible numbers for the cost views. Nothing was paid. */
function usage(read: number, written: number): DemoStep {
  const inputTokens = Math.ceil(read / CHARS_PER_TOKEN);
  const outputTokens = 200 + Math.ceil(written / CHARS_PER_TOKEN);
  const costUsd = inputTokens * USD_PER_INPUT_TOKEN + outputTokens * USD_PER_OUTPUT_TOKEN;
  return { usage: { inputTokens, outputTokens, costUsd: Math.round(costUsd * 1e6) / 1e6 } };
}
