import { join } from 'node:path';
import { type Deployment, startDeployment } from '@pipeline/stack/e2e/deployment/deployment.ts';
import { Load } from '@pipeline/stack/e2e/deployment/load.ts';
import { untilDone } from '@pipeline/stack/e2e/journey.ts';
import { StoreView } from '@pipeline/stack/e2e/store-view.ts';
import { SLUG } from '@pipeline/stack/test/replicas/host.ts';
import type { Sample } from '../measure/sample.ts';
import { Stopwatch } from '../measure/stopwatch.ts';
import type { Bench, Fact, Row } from '../runner/model.ts';
import { median } from '../runner/verdict.ts';

const WORKERS = 16;
const SAMPLES = 3;
const DONE_WITHIN_MS = 600_000;
/** No request of the load is refused. */
const UNLIMITED = { WORKER_RATE_LIMIT: '0', ADDRESS_RATE_LIMIT: '0' };

/**
 * Goal 25: a whole issue, from its opening on the host until nothing of it is left to do: intake by webhook, six tasks of 16
 * workers over HTTP, a pushed branch, a pull request that is opened, reviewed and merged, labels and the status comment.
 * CPU of an issue: both services and Postgres; the host, git and the workers, in this process, are not counted. The first
 * issues warm the services up.
 * Checked: each issue is done, no task, host write or webhook is left, and no worker failed.
 */
export const wholeIssueRow: Row = {
  goal: 25,
  title: 'a whole issue',
  async open(bench) {
    const issues = bench.quick ? 20 : 100;
    const work = await openWork(bench);
    return {
      cases: [],
      async facts() {
        await work(issues);
        const samples: Sample[] = [];
        while (samples.length < SAMPLES) samples.push(await work(issues));
        return factsOf(samples);
      },
    };
  },
};

function factsOf(samples: readonly Sample[]): Fact[] {
  const ms = (part: 'services' | 'postgres') => median(samples.map(({ cpu }) => (cpu?.[part] ?? Number.NaN) / 1_000));
  return [
    {
      title: 'CPU of a whole issue, both services',
      value: ms('services'),
      unit: 'ms',
      bound: { atMost: 100 },
    },
    { title: 'CPU of a whole issue, Postgres', value: ms('postgres'), unit: 'ms', bound: { atMost: 100 } },
    {
      title: `whole issues, ${WORKERS} workers`,
      value: median(samples.map(({ value }) => value)) * 3_600,
      unit: 'issues/h',
      bound: { atLeast: 5_000 },
    },
  ];
}

async function openWork(bench: Bench): Promise<(issues: number) => Promise<Sample>> {
  const url = await bench.server.pipelineDatabase('bench_whole_issue');
  const deployment = await startDeployment({
    folder: join(bench.workDir, 'whole-issue'),
    ownerUrl: url,
    replicas: 1,
    env: { DATABASE_URL: url, NODE_ENV: 'production', ...UNLIMITED },
  });
  bench.stack.add('deployment', () => deployment.stop());
  const load = new Load(deployment, { operated: null });
  bench.stack.add('workers', () => load.close());
  await load.start(WORKERS);
  const store = new StoreView(url);
  let opened = 0;
  return async (issues) => {
    const watch = new Stopwatch(bench.server.pid);
    watch.begin();
    opened += issues;
    await openIssues(deployment, issues);
    const isDone = await untilDone(store, opened, DONE_WITHIN_MS);
    const sample = watch.rate(issues);
    load.failed.throwIfAborted();
    if (!isDone) throw new Error(`not all of ${opened} issues are done: ${JSON.stringify(await store.open())}`);
    return sample;
  };
}

async function openIssues({ host }: Deployment, count: number): Promise<void> {
  for (let n = 0; n < count; n += 1)
    await host.api('POST', `/repos/${SLUG}/issues`, { title: `Issue ${n}`, labels: ['svc:enqueue'] });
}
