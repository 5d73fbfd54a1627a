import { join } from 'node:path';
import { sleep } from '@pipeline/runtime';
import { type StreamingPair, startStreamingPair } from '@pipeline/testing/streaming-pair';
import { BOT, SLUG } from '../../test/replicas/host.ts';
import { type Checks, seconds } from '../checks.ts';
import { type Deployment, startDeployment } from '../deployment/deployment.ts';
import { Load } from '../deployment/load.ts';
import { StreamClient } from '../deployment/stream-client.ts';
import { breaches } from '../invariants.ts';
import type { E2e } from '../journey.ts';
import { poll } from '../poll.ts';
import { StoreView } from '../store-view.ts';
import { startPostgresProxy } from './postgres-proxy.ts';

const ISSUES = 12;
const WORKERS = 4;
/** Reports before the primary is killed. */
const REPORTS_BEFORE = 15;
/** Time that a supervisor of a cluster needs to notice the loss, before it promotes. */
const DETECTION_MS = 2_000;
const WITHIN_MS = 600_000;
const RECOVERED_WITHIN_MS = 10_000;
/** States in which no worker is needed any more. */
const ENDS: ReadonlySet<string> = new Set(['done', 'failure-blocked']);
/** A busy machine is no failure. */
const CONNECT_WITHIN_MS = 30_000;

/**
 * The primary is killed under load and its synchronous standby promoted; a proxy leads to it, and everything goes on by
 * itself.
 */
export async function failover({ checks, dataDir, env }: E2e): Promise<void> {
  const pair = await startStreamingPair({ folder: join(dataDir, 'servers'), settings: { max_connections: '150' } });
  let proxy: { url: string; stop(): void } | undefined;
  let deployment: Deployment | undefined;
  try {
    proxy = await startPostgresProxy(pair, env);
    deployment = await startDeployment({
      folder: join(dataDir, 'config'),
      ownerUrl: pair.primary.url,
      env: { DATABASE_URL: proxy.url, DATABASE_POOL_SIZE: '5' },
    });
    await underLoad(checks, pair, deployment);
  } finally {
    await deployment?.stop();
    proxy?.stop();
    await pair.close();
  }
}

async function underLoad(checks: Checks, pair: StreamingPair, deployment: Deployment): Promise<void> {
  const { host, monitors } = deployment;
  const open = async (title: string) =>
    (await host.api<{ number: number }>('POST', `/repos/${SLUG}/issues`, { title, labels: ['svc:enqueue'] })).number;
  const operated = await open('The issue of the operator');
  for (let n = 1; n < ISSUES; n += 1) await open(`Issue ${n}`);
  const before = new StoreView(pair.primary.url, CONNECT_WITHIN_MS);
  await poll('all issues are imported', async () => (await before.issues()).length === ISSUES, { withinMs: WITHIN_MS });
  const load = new Load(deployment, { operated });
  const streams = monitors.map(({ url }) => new StreamClient(url));
  const stop = async () => {
    await load.close();
    for (const stream of streams) await stream.stop();
  };
  try {
    await load.start(WORKERS);
    const after = await loseThePrimary(checks, { pair, load, streams, operated });
    await untilWorkIsDone(checks, after, load);
    await stop();
    load.failed.throwIfAborted();
    await checkEnd(checks, { deployment, after, streams, operated });
  } finally {
    await stop();
  }
}

interface Scene {
  pair: StreamingPair;
  load: Load;
  streams: readonly StreamClient[];
  operated: number;
}

/** Kills the primary, promotes the standby and waits until every part works again. @returns the promoted server. */
async function loseThePrimary(checks: Checks, { pair, load, streams, operated }: Scene): Promise<StoreView> {
  const { reports, claims, actions } = load.acknowledged;
  const limits = { withinMs: WITHIN_MS, signal: load.failed };
  await poll('work goes on', () => reports.size >= REPORTS_BEFORE && actions.length > 10, limits);
  const killedAt = performance.now();
  pair.killPrimary();
  await sleep(DETECTION_MS);
  // Acknowledgements that were in flight when the server died belong to it.
  const acknowledged = { reports: [...reports.keys()], claims: [...claims.keys()] };
  const operator = { isPaused: load.isPaused, isUncertain: load.isUncertain };
  await pair.promote();
  const promotedAt = performance.now();
  const after = new StoreView(pair.standby.url, CONNECT_WITHIN_MS);
  checks.note(`killed after ${acknowledged.reports.length} reports, promoted ${seconds(promotedAt - killedAt)} later`);
  checks.figure('from the loss to the promoted server', (promotedAt - killedAt) / 1_000, 's');
  await Promise.all([
    checkNothingLost(checks, after, { ...acknowledged, ...operator, issue: operated }),
    checkRecovery(checks, { load, streams, after, promotedAt }),
  ]);
  return after;
}

/** Until each issue of the workers has come to its end, be it a good one. */
async function untilWorkIsDone(checks: Checks, after: StoreView, load: Load): Promise<void> {
  const ended = async () => (await after.issues()).filter(({ state }) => ENDS.has(state)).length;
  const limits = { withinMs: WITHIN_MS, signal: load.failed };
  await poll('the issues of the workers end', async () => (await ended()) >= ISSUES - 1, limits);
  const { done } = await after.open();
  checks.that(`the ${ISSUES - 1} issues of the workers are done`, done >= ISSUES - 1, await after.issues());
}

interface Acknowledged {
  reports: string[];
  claims: string[];
  isPaused: boolean;
  isUncertain: boolean;
  issue: number;
}

/** Read from the promoted server by plain SQL, right after the promotion. */
async function checkNothingLost(checks: Checks, view: StoreView, all: Acknowledged): Promise<void> {
  checks.none(`${all.reports.length} acknowledged reports are kept`, await view.lostReports(all.reports));
  checks.none(`${all.claims.length} acknowledged claims are kept`, await view.lostClaims(all.claims));
  const issue = (await view.issues()).find(({ number }) => number === all.issue);
  checks.that(
    'the last acknowledged action of the operator is kept',
    issue !== undefined && (all.isUncertain || issue.isPaused === all.isPaused),
    { found: issue, ...all },
  );
}

interface Recovery {
  load: Load;
  streams: readonly StreamClient[];
  after: StoreView;
  promotedAt: number;
}

/** Each part waits for its own first success; a time that a client has recorded is exact, the others are polled. */
async function checkRecovery(checks: Checks, { load, streams, after, promotedAt }: Recovery): Promise<void> {
  const { reports, claims, actions } = load.acknowledged;
  const firstOf = (times: Iterable<number>) => [...times].find((at) => at > promotedAt);
  const sessions = async (condition: string) => (await after.rows(`select ${condition}`).catch(() => [])).length;
  const nowIf = (holds: boolean) => (holds ? performance.now() : undefined);
  const streamsAt = () => {
    const first = streams.map(({ events }) => firstOf(events.map(({ at }) => at)));
    return first.every((at) => at !== undefined) ? Math.max(...first) : undefined;
  };
  const parts: [string, () => Promise<number | undefined> | number | undefined][] = [
    ['a claim', () => firstOf(claims.values())],
    ['a report', () => firstOf(reports.values())],
    ['an action of the operator', () => firstOf(actions)],
    ['all four LISTEN sessions', async () => nowIf((await sessions(LISTENING)) === 4)],
    [
      'the leader lock',
      async () => nowIf((await sessions("from pg_locks where locktype = 'advisory' and granted")) > 0),
    ],
    ['both event streams', streamsAt],
  ];
  await Promise.all(
    parts.map(async ([what, timeOf]) => {
      let at: number | undefined;
      const hasHappened = async () => {
        at = await timeOf();
        return at !== undefined;
      };
      await poll(`${what} after the promotion`, hasHappened, { withinMs: WITHIN_MS, signal: load.failed });
      const ms = (at ?? promotedAt) - promotedAt;
      checks.within(`${what} after the promotion`, ms, RECOVERED_WITHIN_MS);
      checks.figure(`${what} after the promotion`, ms / 1_000, 's');
    }),
  );
}

const LISTENING = `from pg_stat_activity where application_name in ('hosted-api', 'monitor:notifications')`;

interface End {
  deployment: Deployment;
  after: StoreView;
  streams: readonly StreamClient[];
  operated: number;
}

async function checkEnd(checks: Checks, { deployment, after, streams, operated }: End): Promise<void> {
  const { host } = deployment;
  await poll('the outbox is empty', async () => (await after.open()).projections === 0, { withinMs: WITHIN_MS });
  checks.none('the invariants hold', await breaches(after));
  const problems: string[] = [];
  for (const { number } of (await after.issues()).filter((issue) => issue.number !== operated)) {
    const comments = await host.api<{ user: { login: string } }[]>('GET', `/repos/${SLUG}/issues/${number}/comments`);
    const own = comments.filter(({ user }) => user.login === BOT.login).length;
    if (own !== 1) problems.push(`#${number} has ${own} status comments`);
  }
  const pulls = await host.api<{ head: { ref: string } }[]>('GET', `/repos/${SLUG}/pulls?state=all&per_page=100`);
  const branches = pulls.map(({ head }) => head.ref);
  if (new Set(branches).size !== branches.length) problems.push(`pull requests made twice: ${branches.join(', ')}`);
  checks.none('the host has one status comment per issue and one pull request per branch', problems);
  for (const [at, { events, connections }] of streams.entries()) {
    const ids = events.map(({ id }) => id);
    const isOrdered = ids.every((id, index) => index === 0 || id > (ids[index - 1] ?? 0));
    checks.that(`stream ${at + 1}: ${ids.length} events in order, none twice, ${connections} connections`, isOrdered);
  }
  const seen = streams.map(({ events }) => events.filter(({ type }) => type === 'state-transition').length);
  checks.that(`both streams brought the same transitions: ${seen[0]}`, new Set(seen).size === 1, seen);
}
