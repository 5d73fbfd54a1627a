import fc from 'fast-check';
import { AGENT_STEPS } from './agent-steps.ts';
import { BACKOFF_STEPS } from './backoff-steps.ts';
import { CRASH_STEPS } from './crash-steps.ts';
import { HOST_STEPS } from './host-steps.ts';
import { LATE_STEPS } from './late-deliveries.ts';
import { OPERATOR_STEPS } from './operator-steps.ts';
import { PEOPLE_STEPS } from './people-steps.ts';
import { PUSH_STEPS } from './push-steps.ts';
import { REVIEW_STEPS } from './review-steps.ts';
import type { Step } from './step.ts';
import { TEXT_STEPS } from './text-steps.ts';
import { TIME_STEPS } from './time-steps.ts';

/** All steps, with weights that let runs get far. */
export const STEPS: fc.Arbitrary<Step> = fc.oneof(
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
