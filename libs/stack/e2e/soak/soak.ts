import { join } from 'node:path';
import { startPostgres } from '@pipeline/local-postgres';
import { type Checks, seconds } from '../checks.ts';
import { type Deployment, startDeployment } from '../deployment/deployment.ts';
import { breaches } from '../invariants.ts';
import { type E2e, untilDone } from '../journey.ts';
import { StoreView } from '../store-view.ts';
import { inWords, Mix, mixAt, type Rates } from './mix.ts';
import { Requests } from './requests.ts';
import { type Sample, Sampler } from './sampler.ts';
import { growingBacklogs, growingMemory, memoryGrowthOf, oldEntries, type Series } from './verdict.ts';

const DEFAULT_MINUTES = 60;
/** Fewer show no slope after the warm-up. */
const FEWEST_MINUTES = 8;
/** Share of the run in which caches fill, and the heap takes the size that the load needs. */
const WARM_UP_SHARE = 0.5;
const DRAINED_WITHIN_MS = 10 * 60_000;
const CONNECT_WITHIN_MS = 30_000;
const SHOWN_ERRORS = 20;

/** The product under a steady mix of users: no error, no growing memory, no growing backlog, nothing left at the end. */
export async function soak({ checks, dataDir, env, minutes, rate }: E2e): Promise<void> {
  if (minutes !== null && !(minutes >= FEWEST_MINUTES)) throw new Error(`--minutes: at least ${FEWEST_MINUTES}`);
  const server = await startPostgres({ dataDir: join(dataDir, 'server'), port: 0, settings: {} });
  let deployment: Deployment | undefined;
  try {
    deployment = await startDeployment({
      folder: join(dataDir, 'config'),
      ownerUrl: server.url,
      replicas: 1,
      env: {
        DATABASE_URL: server.url,
        METRICS_PORT: '0',
        // A module that leaks shows that this check can fail.
        ...(env.SOAK_NODE_OPTIONS !== undefined && { NODE_OPTIONS: env.SOAK_NODE_OPTIONS }),
      },
    });
    const store = new StoreView(server.url, CONNECT_WITHIN_MS);
    await underLoad(checks, { deployment, store, minutes: minutes ?? DEFAULT_MINUTES, rates: mixAt(rate ?? 1) });
  } finally {
    await deployment?.stop();
    await server.stop();
  }
}

interface Run {
  deployment: Deployment;
  store: StoreView;
  minutes: number;
  rates: Rates;
}

async function underLoad(checks: Checks, { deployment, store, minutes, rates }: Run): Promise<void> {
  const ending = new AbortController();
  const requests = new Requests(ending.signal);
  const mix = new Mix(deployment, requests, rates);
  const [api, monitor] = [...deployment.apis, ...deployment.monitors];
  if (!api || !monitor) throw new Error('a service is missing');
  const watched = [
    { name: 'hosted-api', service: api },
    { name: 'monitor', service: monitor },
  ];
  const sampler = new Sampler(watched, store, requests);
  checks.note(`${minutes} minutes: ${inWords(rates)}`);
  try {
    await mix.start();
    checks.note(HEADING);
    const samples: Sample[] = [];
    while (samples.length < minutes) {
      const sample = await sampler.minute(mix.load.failed);
      if (sample === null) break;
      samples.push(sample);
      checks.note(rowOf(samples.length, sample));
    }
    judge(checks, samples, minutes);
    await mix.stopUsers();
    await checkEnd(checks, { mix, store });
  } finally {
    ending.abort();
    await mix.stop();
  }
}

const HEADING =
  'min  api rss/heap  monitor rss/heap  database  conn  tasks  outbox (s)  inbox (s)  done  requests  errors  p50/p95 ms';

function rowOf(minute: number, { memory, store, requests, errors, p50Ms, p95Ms }: Sample): string {
  const pair = (name: string) => `${(memory[name]?.rssMib ?? 0).toFixed(0)}/${(memory[name]?.heapMib ?? 0).toFixed(0)}`;
  const age = (entries: number, secondsOld: number) => `${entries} (${secondsOld.toFixed(0)})`;
  const cells: [string, number][] = [
    [`${minute}`, 3],
    [pair('hosted-api'), 14],
    [pair('monitor'), 18],
    [`${store.databaseMib.toFixed(1)}`, 10],
    [`${store.connections}`, 6],
    [`${store.tasks}`, 7],
    [age(store.outbox, store.outboxSeconds), 12],
    [age(store.inbox, store.inboxSeconds), 11],
    [`${store.done}`, 6],
    [`${requests}`, 10],
    [`${errors.length}`, 8],
    [`${p50Ms.toFixed(0)}/${p95Ms.toFixed(0)}`, 12],
  ];
  return cells.map(([text, width]) => text.padStart(width)).join('');
}

function judge(checks: Checks, samples: readonly Sample[], minutes: number): void {
  checks.that(`the mix ran for ${minutes} minutes`, samples.length === minutes, `it ended after ${samples.length}`);
  const errors = samples.flatMap((sample) => sample.errors);
  checks.none(
    `no error in ${sum(samples, ({ requests }) => requests)} requests and the logs`,
    errors.slice(0, SHOWN_ERRORS),
  );
  const warm = samples.slice(Math.floor(samples.length * WARM_UP_SHARE));
  const of = (name: string, read: (sample: Sample) => number): Series => ({ name, values: warm.map(read) });
  const memory = ['hosted-api', 'monitor'].flatMap((name) => [
    of(`resident memory of ${name}`, (sample) => sample.memory[name]?.rssMib ?? Number.NaN),
    of(`heap of ${name}`, (sample) => sample.memory[name]?.heapMib ?? Number.NaN),
  ]);
  for (const series of memory)
    checks.note(
      `${series.name}: ${memoryGrowthOf(series).toFixed(1)} MiB in ${series.values.length} minutes after the warm-up`,
    );
  checks.none('memory is flat', growingMemory(memory));
  checks.none(
    'no backlog grows',
    growingBacklogs([
      of('the queue of tasks', ({ store }) => store.tasks),
      of('the outbox', ({ store }) => store.outbox),
      of('the inbox', ({ store }) => store.inbox),
    ]),
  );
  const ages = [
    of('the oldest entry of the outbox', ({ store }) => store.outboxSeconds),
    of('the oldest webhook', ({ store }) => store.inboxSeconds),
  ];
  checks.none('no entry grows old', oldEntries(ages));
}

const sum = (samples: readonly Sample[], read: (sample: Sample) => number): number =>
  samples.reduce((total, sample) => total + read(sample), 0);

async function checkEnd(checks: Checks, { mix, store }: { mix: Mix; store: StoreView }): Promise<void> {
  const startedAt = performance.now();
  const isDrained = await untilDone(store, mix.issues, DRAINED_WITHIN_MS);
  const took = seconds(performance.now() - startedAt);
  const open = await store.rows("select issue_number::int number, state, last_error from issues where state <> 'done'");
  checks.that(`all ${mix.issues} issues are done ${took} after the last one`, isDrained, {
    ...(await store.open()),
    open,
  });
  checks.none('the invariants hold', await breaches(store));
  checks.that('no worker failed', !mix.load.failed.aborted, String(mix.load.failed.reason));
}
