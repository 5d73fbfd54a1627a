import { expect, test } from '@jest/globals';
import { type TestDatabase, testDatabase } from '@pipeline/testing';
import fc from 'fast-check';
import { modelSteps, runModel } from './model/run.ts';
import { makeWorld } from './model/world.ts';

/**
 * `MODEL_RUNS=2000` makes a soak of runs that are new each time. A failure prints a seed, a path and a `replayPath`: put them into `MODEL_SEED`,
 * `MODEL_PATH` and `MODEL_REPLAY` to see the same again.
 */
const { MODEL_RUNS, MODEL_SEED, MODEL_PATH, MODEL_REPLAY } = process.env;
const RUNS = Number(MODEL_RUNS ?? 200);
/** The same runs each time, so that a failure is the doing of the change that it is seen with; soaks go elsewhere. */
const SEED = 20_261_121;
/** Two runs at a time, each on a database of its own: while one waits for Postgres the other one goes on. */
const LANES = MODEL_PATH === undefined ? 2 : 1;

const databases = Array.from({ length: LANES }, () => testDatabase());

/** A lane of its own seed; a soak's seeds are new each time. */
const seedOf = (lane: number): { seed?: number } => {
  if (MODEL_SEED !== undefined) return { seed: Number(MODEL_SEED) + lane };
  return MODEL_RUNS === undefined ? { seed: SEED + lane } : {};
};

let runs = 0;

function makeRuns(database: TestDatabase, lane: number): Promise<void> {
  const property = fc.asyncProperty(modelSteps(MODEL_REPLAY), async (commands) => {
    runs += 1;
    await runModel(await makeWorld(database), commands);
  });
  return fc.assert(property, {
    numRuns: Math.ceil(RUNS / LANES),
    ...seedOf(lane),
    ...(MODEL_PATH !== undefined && { path: MODEL_PATH }),
  });
}

test('the rules hold and every issue ends for any actions of people, agents, hosts, clocks and crashes', async () => {
  const lanes = await Promise.allSettled(databases.map(makeRuns));
  for (const lane of lanes) if (lane.status === 'rejected') throw lane.reason;
  if (MODEL_PATH === undefined) expect(runs).toBeGreaterThanOrEqual(RUNS);
}, 36_000_000);
