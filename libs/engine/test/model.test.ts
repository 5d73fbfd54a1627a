import { expect, test } from '@jest/globals';
import { testDatabase } from '@pipeline/testing';
import fc from 'fast-check';
import { AGENT_STEPS } from './model/agent-steps.ts';
import { CRASH_STEPS } from './model/crash-steps.ts';
import { checkEnd, checkHelped } from './model/ending.ts';
import { HOST_STEPS } from './model/host-steps.ts';
import { OPERATOR_STEPS } from './model/operator-steps.ts';
import { PEOPLE_STEPS } from './model/people-steps.ts';
import { modelOf, StepCommand } from './model/step.ts';
import { TIME_STEPS } from './model/time-steps.ts';
import { makeWorld } from './model/world.ts';

const database = testDatabase();

/**
 * `MODEL_RUNS=2000` makes a soak of runs that are new each time. A failure prints a seed, a path and a `replayPath`: put them into `MODEL_SEED`,
 * `MODEL_PATH` and `MODEL_REPLAY` to see the same again.
 */
const { MODEL_RUNS, MODEL_SEED, MODEL_PATH, MODEL_REPLAY } = process.env;
const RUNS = 200;
/** The same runs each time, so that a failure is the doing of the change that it is seen with; soaks go elsewhere. */
const SEED = 20_261_121;
/** A slow machine makes fewer runs, and says how many; a soak makes all of them. */
const TIME_LIMIT_MS = 100_000;
/** With fewer than these the test has shown nothing, and fails. */
const FEWEST_RUNS = 10;

const steps = fc.commands(
  [
    fc
      .oneof(
        { weight: 9, arbitrary: AGENT_STEPS },
        { weight: 6, arbitrary: HOST_STEPS },
        { weight: 4, arbitrary: PEOPLE_STEPS },
        { weight: 4, arbitrary: OPERATOR_STEPS },
        { weight: 3, arbitrary: TIME_STEPS },
        { weight: 1, arbitrary: CRASH_STEPS },
      )
      .map((step) => new StepCommand(step)),
  ],
  { maxCommands: 40, size: 'max', ...(MODEL_REPLAY !== undefined && { replayPath: MODEL_REPLAY }) },
);

let runs = 0;
let deadline = Number.POSITIVE_INFINITY;
const property = fc.asyncProperty(steps, async (commands) => {
  // Not begun any more: a run that is cut off would go on behind the test. It ends the search for a smaller failure too.
  if (performance.now() > deadline) return;
  runs += 1;
  const real = await makeWorld(database);
  const model = { issues: await modelOf(real) };
  await fc.asyncModelRun(() => ({ model, real }), commands);
  await checkEnd(real);
  await checkHelped(real);
});

const seedOf = (): { seed?: number } => {
  if (MODEL_SEED !== undefined) return { seed: Number(MODEL_SEED) };
  return MODEL_RUNS === undefined ? { seed: SEED } : {};
};

test('whatever people, agents, hosts, clocks and crashes do, the rules hold and every issue finds its end', async () => {
  const wanted = Number(MODEL_RUNS ?? RUNS);
  if (MODEL_RUNS === undefined) deadline = performance.now() + TIME_LIMIT_MS;
  await fc.assert(property, {
    numRuns: wanted,
    ...seedOf(),
    ...(MODEL_PATH !== undefined && { path: MODEL_PATH }),
  });
  const why = runs < wanted ? `, stopped after ${TIME_LIMIT_MS / 1_000} s` : '';
  process.stderr.write(`model: ${runs} of ${wanted} runs${why}\n`);
  expect(runs).toBeGreaterThanOrEqual(Math.min(wanted, FEWEST_RUNS));
}, 36_000_000);
