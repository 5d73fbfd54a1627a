import { randomInt } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { type TestDatabase, testDatabase } from '@pipeline/testing';
import { makeWorld, modelSteps, runModel } from '@pipeline/testing/model';
import fc from 'fast-check';

/**
 * `npm test` makes 20 runs, `npm run test:nightly` 2,000, each time with a new seed, which is printed. A failure prints a
 * seed, a path and a `replayPath`: put them into `MODEL_SEED`, `MODEL_PATH` and `MODEL_REPLAY` to repeat it.
 */
const { MODEL_RUNS = '20', MODEL_SEED, MODEL_PATH, MODEL_REPLAY } = process.env;
const RUNS = Number(MODEL_RUNS);
const SEED = Number(MODEL_SEED ?? randomInt(2 ** 31));
/** Two runs concurrently, each on its own database: while one waits for Postgres the other continues. */
const LANES = MODEL_PATH === undefined ? 2 : 1;

const databases = Array.from({ length: LANES }, () => testDatabase());

let runs = 0;

function makeRuns(database: TestDatabase, lane: number): Promise<void> {
  const property = fc.asyncProperty(modelSteps(MODEL_REPLAY), fc.boolean(), async (commands, approvesPlans) => {
    runs += 1;
    await runModel(await makeWorld(database, { approvesPlans }), commands);
  });
  return fc.assert(property, {
    numRuns: Math.ceil(RUNS / LANES),
    seed: SEED + lane,
    ...(MODEL_PATH !== undefined && { path: MODEL_PATH }),
  });
}

test('the rules hold and every issue ends for any actions of people, agents, hosts, clocks and crashes', async () => {
  process.stderr.write(`model: MODEL_SEED=${SEED} MODEL_RUNS=${RUNS}\n`);
  const lanes = await Promise.allSettled(databases.map(makeRuns));
  for (const lane of lanes) if (lane.status === 'rejected') throw lane.reason;
  if (MODEL_PATH === undefined) expect(runs).toBeGreaterThanOrEqual(RUNS);
}, 2_400_000);
