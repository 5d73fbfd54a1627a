import { createHash, randomInt } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { VcsHost } from '@pipeline/domain';
import { ensureTenant, insertWorkerToken } from '@pipeline/store';
import { testDatabase } from '@pipeline/testing';
import { makeWorld, modelSteps, runModel, type Stage, type World } from '@pipeline/testing/model';
import fc from 'fast-check';
import { clusterActs } from './cluster/acts.ts';
import { checkIntake } from './cluster/agreement.ts';
import { Cluster } from './cluster/cluster.ts';

/** A new seed each time, which is printed. It and a printed path are repeated as for the model. */
const { REPLICA_RUNS = '10', MODEL_SEED, MODEL_PATH, MODEL_REPLAY } = process.env;
const SEED = Number(MODEL_SEED ?? randomInt(2 ** 31));
const TOKEN = `wrk_at_${'t'.repeat(43)}`;
const DAY_MS = 86_400_000;

let cluster: Cluster | undefined;
// Before the hook of the database, which the replicas use.
afterAll(() => cluster?.stop(), 120_000);
const database = testDatabase();
let host: VcsHost | undefined;
let deliveries = 0;

beforeAll(async () => {
  database.clock.now = new Date('2026-03-01T00:00:00Z');
  const tenantId = await ensureTenant(database.store.db, 'model');
  const tokenHash = createHash('sha256').update(TOKEN).digest('hex');
  await insertWorkerToken(database.store.db, { tenantId, name: 'rover', tokenHash, repoIds: null });
  const started = new Cluster({
    database,
    token: TOKEN,
    host: () => {
      if (!host) throw new Error('no run has begun');
      return host;
    },
  });
  cluster = started;
  await started.start();
});

async function begin(turns: readonly number[], approvesPlans: boolean): Promise<World> {
  if (!cluster) throw new Error('nothing was started');
  const replicas = cluster;
  replicas.begin(turns);
  // The replicas keep running between runs: time only advances.
  const start = new Date((database.clock.now?.getTime() ?? 0) + DAY_MS);
  const nextId = () => {
    deliveries += 1;
    return `d-${deliveries}`;
  };
  const actsOn = (stage: Stage) => {
    host = stage.host;
    return clusterActs(replicas, stage, nextId);
  };
  return makeWorld(database, { start, actsOn, approvesPlans });
}

test('two monitors and two hosted APIs on one database pass the test of the model', async () => {
  process.stderr.write(`model over two replicas: MODEL_SEED=${SEED}\n`);
  const turns = fc.array(fc.nat(1), { minLength: 1, maxLength: 64, size: 'max' });
  const property = fc.asyncProperty(
    modelSteps(MODEL_REPLAY),
    turns,
    fc.boolean(),
    async (commands, bits, approvesPlans) => {
      await runModel(await begin(bits, approvesPlans), commands);
      await checkIntake(database);
      expect(cluster?.complaints).toEqual([]);
    },
  );
  await fc.assert(property, {
    numRuns: Number(REPLICA_RUNS),
    seed: SEED,
    ...(MODEL_PATH !== undefined && { path: MODEL_PATH }),
  });
}, 1_800_000);
