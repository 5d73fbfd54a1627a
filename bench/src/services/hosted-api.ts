import { join } from 'node:path';
import type { OurStore } from '../ours/store.ts';
import type { Bench } from '../runner/model.ts';
import { buildService } from './build.ts';
import { startChild } from './child.ts';
import { connectWorkers, LANES, type WorkerLoad } from './worker-load.ts';

/** The hosted API as a process of its own, built as its container is and with its default settings, and its workers. */
export async function openHostedApi(bench: Bench, ours: OurStore, name: string, slots = 1): Promise<WorkerLoad> {
  const child = await startChild({
    args: [await buildService('hosted-api', bench.workDir)],
    env: {
      DATABASE_URL: ours.url,
      // One for each request that can be in flight, as its peers have.
      DATABASE_POOL_SIZE: `${LANES}`,
      WORKER_RATE_LIMIT: '0',
      ADDRESS_RATE_LIMIT: '0',
      NODE_ENV: 'production',
    },
    logFile: join(bench.workDir, `${name}.log`),
  });
  bench.stack.add(name, () => child.stop());
  const load = await connectWorkers(ours, child.url, slots);
  bench.stack.add(`connections to ${name}`, () => load.close());
  return load;
}
