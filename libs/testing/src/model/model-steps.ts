import fc, { type AsyncCommand } from 'fast-check';
import { AGENT_STEPS } from './steps/agent-steps.ts';
import { BACKOFF_STEPS } from './steps/backoff-steps.ts';
import { CRASH_STEPS } from './steps/crash-steps.ts';
import { HOST_STEPS } from './steps/host-steps.ts';
import { LATE_STEPS } from './steps/late-deliveries.ts';
import { OPERATOR_STEPS } from './steps/operator-steps.ts';
import { PEOPLE_STEPS } from './steps/people-steps.ts';
import { PUSH_STEPS } from './steps/push-steps.ts';
import { REVIEW_STEPS } from './steps/review-steps.ts';
import type { Model, Step } from './steps/step.ts';
import { StepCommand } from './steps/step-command.ts';
import { TEXT_STEPS } from './steps/text-steps.ts';
import { TIME_STEPS } from './steps/time-steps.ts';
import type { World } from './world/world.ts';

/** All steps, weighted so that runs reach late states. */
const STEPS: fc.Arbitrary<Step> = fc.oneof(
  { weight: 9, arbitrary: AGENT_STEPS },
  { weight: 6, arbitrary: HOST_STEPS },
  { weight: 4, arbitrary: PEOPLE_STEPS },
  { weight: 4, arbitrary: OPERATOR_STEPS },
  { weight: 3, arbitrary: PUSH_STEPS },
  { weight: 2, arbitrary: REVIEW_STEPS },
  { weight: 3, arbitrary: TIME_STEPS },
  { weight: 2, arbitrary: CRASH_STEPS },
  { weight: 1, arbitrary: BACKOFF_STEPS },
  { weight: 3, arbitrary: LATE_STEPS },
  { weight: 2, arbitrary: TEXT_STEPS },
);

/** @param replayPath printed by a failed run; undefined = a new random run. */
export const modelSteps = (replayPath: string | undefined): fc.Arbitrary<Iterable<AsyncCommand<Model, World>>> =>
  fc.commands([STEPS.map((step) => new StepCommand(step))], {
    maxCommands: 40,
    size: 'max',
    ...(replayPath !== undefined && { replayPath }),
  });
