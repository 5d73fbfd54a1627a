import { join } from 'node:path';
import { openOurStore } from '../../ours/store.ts';
import type { Bench, Case, Fact, Row } from '../../runner/model.ts';
import { median } from '../../runner/verdict.ts';
import { buildService, type ServiceName } from '../../services/build.ts';
import { type Child, type ChildOptions, startChild } from '../../services/child.ts';

/** The least that answers. */
const BARE = `require('node:http').createServer((q, s) => s.end('ok')).listen(process.env.PORT, '127.0.0.1')`;

/**
 * Goal 14: from the spawn of a process to its first 200 on /health, and its resident memory at that moment. Each
 * service as its image runs it: one bundled file, V8's compile cache filled by an earlier start and stop, the store
 * reachable and migrated. Against a node:http server of one line, and against limits for a machine at rest.
 */
export const coldStartRow: Row = {
  goal: 14,
  title: 'cold start',
  async open(bench) {
    const { url } = await openOurStore(bench, 'bench_cold');
    const services: ServiceName[] = ['hosted-api', 'monitor'];
    const bare = () => starting({ args: ['-e', BARE], env: {}, logFile: join(bench.workDir, 'bare.log') });
    const cases: Case[] = [];
    const starts = new Map<ServiceName, Child[]>();
    for (const name of services) {
      const options = await serviceOptions(bench, name, url);
      await starting(options); // fills the compile cache
      const children: Child[] = [];
      starts.set(name, children);
      const service = async () => {
        const child = await starting(options);
        children.push(child);
        return child;
      };
      cases.push(...casesOf(name, service, bare));
    }
    return { cases, facts: async () => [...starts].flatMap(([name, children]) => factsOf(name, children)) };
  },
};

/** Medians of all starts of the run. */
const factsOf = (name: ServiceName, children: readonly Child[]): Fact[] => [
  {
    title: `${name}: start to first 200, median`,
    value: median(children.map(({ startMs }) => startMs)),
    unit: 'ms',
    bound: { atMost: 130 },
  },
  {
    title: `${name}: resident memory, median`,
    value: median(children.map(({ rssMib }) => rssMib)),
    unit: 'MiB',
    bound: { atMost: 90 },
  },
];

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
