import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { VcsHost } from '@pipeline/domain';
import { makeWorld, modelSteps, runModel, type Stage, type World } from '@pipeline/engine/model';
import { ensureTenant, insertWorkerToken } from '@pipeline/store';
import { testDatabase } from '@pipeline/testing';
import fc from 'fast-check';
import { twinActs } from './twins/acts.ts';
import { checkIntake } from './twins/agreement.ts';
import { Twins } from './twins/twins.ts';

/** `REPLICA_RUNS=200` makes a soak of runs that are new each time; a seed and a path that were printed go as for the model. */
const { REPLICA_RUNS, MODEL_SEED, MODEL_PATH, MODEL_REPLAY } = process.env;
const SEED = 20_261_121;
const RUNS = 10;
const TOKEN = `wrk_at_${'t'.repeat(43)}`;
const DAY_MS = 86_400_000;

let twins: Twins | undefined;
// Before that of the database, on which they stand.
afterAll(() => twins?.stop(), 120_000);
const database = testDatabase();
let host: VcsHost | undefined;
let deliveries = 0;

beforeAll(async () => {
  database.clock.now = new Date('2026-03-01T00:00:00Z');
  const tenantId = await ensureTenant(database.store.tenant, 'model');
  const tokenHash = createHash('sha256').update(TOKEN).digest('hex');
  await insertWorkerToken(database.store.tenant, { tenantId, name: 'rover', tokenHash, repoIds: null });
  const started = new Twins({
    database,
    token: TOKEN,
    host: () => {
      if (!host) throw new Error('no run is under way');
      return host;
    },
  });
  twins = started;
  await started.start();
}, 120_000);

async function begin(turns: readonly number[]): Promise<World> {
  if (!twins) throw new Error('nothing was started');
  const replicas = twins;
  replicas.begin(turns);
  // The replicas have lived through the runs before: their time only goes on.
  const start = new Date((database.clock.now?.getTime() ?? 0) + DAY_MS);
  const nextId = () => {
    deliveries += 1;
    return `d-${deliveries}`;
  };
  const actsOn = (stage: Stage) => {
    host = stage.host;
    return twinActs(replicas, stage, nextId);
  };
  return makeWorld(database, { start, actsOn });
}

test('two monitors and two hosted APIs on one database pass the test of the model', async () => {
  const turns = fc.array(fc.nat(1), { minLength: 1, maxLength: 64, size: 'max' });
  const property = fc.asyncProperty(modelSteps(MODEL_REPLAY), turns, async (commands, bits) => {
    await runModel(await begin(bits), commands);
    await checkIntake(database);
    expect(twins?.complaints).toEqual([]);
  });
  await fc.assert(property, {
    numRuns: Number(REPLICA_RUNS ?? RUNS),
    ...(MODEL_SEED !== undefined ? { seed: Number(MODEL_SEED) } : REPLICA_RUNS === undefined && { seed: SEED }),
    ...(MODEL_PATH !== undefined && { path: MODEL_PATH }),
  });
}, 36_000_000);
