import { expect, test } from '@jest/globals';
import { testDatabase } from '@pipeline/testing';
import fc from 'fast-check';
import { AGENT_STEPS } from './model/agent-steps.ts';
import { checkEnd, checkHelped } from './model/ending.ts';
import { HOST_STEPS } from './model/host-steps.ts';
import { OPERATOR_STEPS } from './model/operator-steps.ts';
import { PEOPLE_STEPS } from './model/people-steps.ts';
import { type Model, modelOf, StepCommand } from './model/step.ts';
import { TIME_STEPS } from './model/time-steps.ts';
import { makeWorld } from './model/world.ts';

const database = testDatabase();

/**
 * `MODEL_RUNS` makes a longer soak. A failure prints a seed, a path and a replay path: put them into `MODEL_SEED`,
 * `MODEL_PATH` and `MODEL_REPLAY` to see the same again.
 */
const { MODEL_RUNS, MODEL_SEED, MODEL_PATH, MODEL_REPLAY } = process.env;
const RUNS = Number(MODEL_RUNS ?? 150);
const STEPS = 40;

const commands = fc.commands(
  [
    fc
      .oneof(
        { weight: 9, arbitrary: AGENT_STEPS },
        { weight: 6, arbitrary: HOST_STEPS },
        { weight: 4, arbitrary: PEOPLE_STEPS },
        { weight: 4, arbitrary: OPERATOR_STEPS },
        { weight: 3, arbitrary: TIME_STEPS },
      )
      .map((step) => new StepCommand(step)),
  ],
  { maxCommands: STEPS, size: 'max', ...(MODEL_REPLAY !== undefined && { replayPath: MODEL_REPLAY }) },
);

test(`whatever people, agents, hosts and crashes do, the rules hold (${RUNS} runs)`, async () => {
  await fc.assert(
    fc.asyncProperty(commands, async (steps) => {
      const world = await makeWorld(database);
      const model: Model = { issues: await modelOf(world) };
      await fc.asyncModelRun(() => ({ model, real: world }), steps);
      await checkEnd(world);
      await checkHelped(world);
    }),
    {
      numRuns: RUNS,
      ...(MODEL_SEED !== undefined && { seed: Number(MODEL_SEED) }),
      ...(MODEL_PATH !== undefined && { path: MODEL_PATH }),
    },
  );
  expect(database.clock.now).not.toBeNull();
}, 3_600_000);
