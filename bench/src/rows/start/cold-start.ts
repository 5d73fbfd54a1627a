import { join } from 'node:path';
import { openOurStore } from '../../ours/store.ts';
import type { Bench, Case, Row } from '../../runner/model.ts';
import { buildService, type ServiceName } from '../../services/build.ts';
import { type Child, type ChildOptions, startChild } from '../../services/child.ts';

/** The least that answers. */
const BARE = `require('node:http').createServer((q, s) => s.end('ok')).listen(process.env.PORT, '127.0.0.1')`;

/**
 * Goal 14: from the spawn of a process to its first 200 on /health, and its resident memory at that moment. Each
 * service as its image runs it: one bundled file, V8's compile cache filled by an earlier start and stop, the store
 * reachable and migrated. Against a node:http server of one line.
 */
export const coldStartRow: Row = {
  goal: 14,
  title: 'cold start',
  async open(bench) {
    const { url } = await openOurStore(bench, 'bench_cold');
    const services: ServiceName[] = ['hosted-api', 'monitor'];
    const bare = () => starting({ args: ['-e', BARE], env: {}, logFile: join(bench.workDir, 'bare.log') });
    const cases: Case[] = [];
    for (const name of services) {
      const options = await serviceOptions(bench, name, url);
      await starting(options); // fills the compile cache
      cases.push(...casesOf(name, () => starting(options), bare));
    }
    return { cases };
  },
};

async function serviceOptions(bench: Bench, name: ServiceName, databaseUrl: string): Promise<ChildOptions> {
  return {
    args: [await buildService(name, bench.workDir)],
    env: {
      DATABASE_URL: databaseUrl,
      NODE_ENV: 'production',
      NODE_COMPILE_CACHE: join(bench.workDir, `${name}-cache`),
    },
    logFile: join(bench.workDir, `${name}.log`),
  };
}

async function starting(options: ChildOptions): Promise<Child> {
  const child = await startChild(options);
  await child.stop();
  return child;
}

type Start = () => Promise<Child>;

function casesOf(name: ServiceName, service: Start, bare: Start): [Case, Case] {
  const of = (start: Start, value: (child: Child) => number) => async () => ({
    value: value(await start()),
    cpu: null,
  });
  const time = ({ startMs }: Child) => startMs;
  const memory = ({ rssMib }: Child) => rssMib;
  return [
    {
      title: `${name}: start to first 200`,
      unit: 'ms',
      ours: { name: 'ours', sample: of(service, time) },
      anchors: [{ contender: { name: 'bare node:http', sample: of(bare, time) }, bound: { atMost: 2.7 } }],
    },
    {
      title: `${name}: resident memory`,
      unit: 'MiB',
      ours: { name: 'ours', sample: of(service, memory) },
      anchors: [{ contender: { name: 'bare node:http', sample: of(bare, memory) }, bound: { atMost: 1.5 } }],
    },
  ];
}
