import { DBOS } from '@dbos-inc/dbos-sdk';
import { counter, inLanes, requireEqual } from '../measure/lanes.ts';
import type { Sample } from '../measure/sample.ts';
import { Stopwatch } from '../measure/stopwatch.ts';
import type { Bench } from '../runner/model.ts';

const LANES = 16;

/** DBOS Transact in this process, on a database of its own. */
export interface Dbos {
  /** Runs so many workflows of two steps that do nothing, 16 at a time: durable begin, each step and end. */
  work(workflows: number): Promise<Sample>;
}

export async function openDbos(bench: Bench, name: string): Promise<Dbos> {
  const systemDatabaseUrl = await bench.server.emptyDatabase(name);
  DBOS.setConfig({ name: 'bench', systemDatabaseUrl, systemDatabasePoolSize: LANES + 2, logLevel: 'error' });
  const done = new Set<number>();
  const workflow = DBOS.registerWorkflow(
    async (n: number) => {
      const claimed = await DBOS.runStep(async () => n, { name: 'claim' });
      return DBOS.runStep(async () => claimed, { name: 'report' });
    },
    { name: 'work' },
  );
  await DBOS.launch();
  bench.stack.add('DBOS', () => DBOS.shutdown());
  return {
    async work(workflows) {
      done.clear();
      const next = counter(workflows);
      const watch = new Stopwatch(bench.server.pid);
      watch.begin();
      await inLanes(LANES, async () => {
        const n = next();
        if (n !== undefined) done.add(await workflow(n));
        return n !== undefined;
      });
      const sample = watch.rate(workflows);
      requireEqual('DBOS: workflows done', done.size, workflows);
      return sample;
    },
  };
}
