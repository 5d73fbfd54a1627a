import { join } from 'node:path';
import { startPostgres } from '@pipeline/local-postgres';
import { sleep } from '@pipeline/runtime';
import { type Host, SLUG, startHost } from '../../test/replicas/host.ts';
import { type Checks, seconds } from '../checks.ts';
import { Load } from '../deployment/load.ts';
import type { E2e } from '../journey.ts';
import { poll } from '../poll.ts';
import { StoreView } from '../store-view.ts';
import { type ContractAccess, ContractRuns, createAccess, createWorkerToken } from './contract-runs.ts';
import { Readers } from './readers.ts';
import { commitBefore, current, type History, installRelease, type Release } from './release.ts';
import { OPERATOR, type Replica, Rollout } from './rollout.ts';

/** Organisation of the repo that the workers work in. */
const ORG = 'default';
const WORKERS = 2;
const ISSUE_EVERY_MS = 2_000;
/** Issues in work at most: a slow machine is not given more than it can do. */
const OPEN_AT_MOST = 4;
/** Number of reports that must be acknowledged in each phase. */
const REPORTS = 5;
const WITHIN_MS = 300_000;
const CONNECT_WITHIN_MS = 30_000;
const ENDS: ReadonlySet<string> = new Set(['done', 'failure-blocked']);

/**
 * Upgrades a deployment under load: the schema is migrated while the earlier version serves, then the replicas are
 * replaced one after the other, so that both versions run on one store. Both pass their contract tests all the while,
 * and no client that retries loses a request.
 */
export async function upgrade({ checks, dataDir, from, env }: E2e): Promise<void> {
  const began = performance.now();
  const before = await commitBefore(from);
  if (before === null) {
    checks.note(
      'skipped: this clone is shallow and lacks the earlier version; fetch it with: git fetch --unshallow --tags',
    );
    return;
  }
  const inherited = { PATH: env.PATH, HOME: env.HOME };
  const old = await installRelease({ ...before, folder: join(dataDir, 'release') }, inherited);
  const server = await startPostgres({ dataDir: join(dataDir, 'postgres'), port: 0, settings: { jit: 'off' } });
  let scene: Scene | undefined;
  try {
    scene = await startScene({ checks, dataDir, old, next: current(inherited), databaseUrl: server.url });
    checks.note(`${old.name} serves after ${seconds(performance.now() - began)}`);
    await underLoad(scene);
  } finally {
    await scene?.rollout.close();
    await scene?.host.stop();
    await server.stop();
  }
}

interface Scene {
  checks: Checks;
  databaseUrl: string;
  view: StoreView;
  host: Host;
  rollout: Rollout;
  replicas: [Replica, Replica];
  next: Release;
  history: History;
  access: ContractAccess;
  workerToken: string;
}

interface Place {
  checks: Checks;
  dataDir: string;
  old: Release;
  next: Release;
  databaseUrl: string;
}

/** Two replicas of the earlier version, on a store that it has made. */
async function startScene({ checks, dataDir, old, next, databaseUrl }: Place): Promise<Scene> {
  await old.migrate(databaseUrl);
  const history = await old.insertHistory(databaseUrl);
  const access = await createAccess(old, databaseUrl, history);
  await old.admin(databaseUrl, 'org', 'create', ORG);
  const workerToken = await createWorkerToken(old, databaseUrl, ORG);
  const host = await startHost();
  const rollout = new Rollout({ folder: dataDir, databaseUrl, host });
  try {
    await rollout.listen();
    const replicas: [Replica, Replica] = [await rollout.start(old), await rollout.start(old)];
    host.hooks.push(rollout.urls.hosted);
    const view = new StoreView(databaseUrl, CONNECT_WITHIN_MS);
    return { checks, databaseUrl, view, host, rollout, replicas, next, history, access, workerToken };
  } catch (error) {
    await rollout.close();
    await host.stop();
    throw error;
  }
}

async function underLoad(scene: Scene): Promise<void> {
  const { checks, host, rollout, history, access, workerToken: token } = scene;
  const operated = await openIssue(host, 'The issue of the operator');
  const { hosted, monitor } = rollout.urls;
  const headers = { authorization: `Basic ${btoa(`${OPERATOR.username}:${OPERATOR.password}`)}` };
  const target = { host, apis: [{ url: hosted }], monitors: [{ url: monitor }], token };
  const load = new Load(target, { operated, headers });
  const readers = new Readers({ urls: rollout.urls, client: access.client, repo: history.repos[0] ?? '' });
  const opening = new AbortController();
  const opened = keepOpening(scene, opening.signal);
  const stop = async () => {
    opening.abort();
    await opened;
    await readers.stop();
    await load.close();
  };
  try {
    await poll('the first issue is imported', async () => (await ownIssues(scene)).length > 0, { withinMs: WITHIN_MS });
    await load.start(WORKERS);
    await rollOver(scene, load);
    opening.abort();
    await opened;
    const open = async () =>
      (await ownIssues(scene)).filter(({ number, state }) => number !== operated && !ENDS.has(state));
    await poll('the issues end', async () => (await open()).length === 0, { withinMs: WITHIN_MS, signal: load.failed });
    await stop();
    load.failed.throwIfAborted();
    checks.none(`none of ${readers.requests} reads was lost`, readers.lost);
    await checkNothingLost(scene, load, operated);
  } finally {
    await stop();
  }
}

/** The phases of the upgrade. */
async function rollOver(scene: Scene, load: Load): Promise<void> {
  const { checks, rollout, replicas, next, history, access, databaseUrl } = scene;
  const [first, second] = replicas;
  const [scratch = '', otherScratch = ''] = history.repos;
  await workGoesOn('before the upgrade', load);
  const oldRuns = new ContractRuns(checks, { replica: first, access, scratch });
  const migrations = await next.migrate(databaseUrl);
  checks.note(
    `migrated to this version while ${first.release.name} serves: ${migrations.join(', ') || 'no migration'}`,
  );
  await workGoesOn('after the migration', load);
  await oldRuns.untilRunEnds();

  const third = await rollout.start(next);
  checks.equal('the second replica stops', await rollout.stop(second), [0, 0]);
  const newRuns = new ContractRuns(checks, { replica: third, access, scratch: otherScratch });
  await workGoesOn('with both versions', load);
  await Promise.all([newRuns.untilRunEnds(), oldRuns.finish()]);

  const fourth = await rollout.start(next);
  checks.equal('the first replica stops', await rollout.stop(first), [0, 0]);
  await workGoesOn('with this version alone', load);
  await newRuns.finish();

  await rollout.start(next);
  checks.equal('a replica of this version stops in a rolling restart', await rollout.stop(fourth), [0, 0]);
  await workGoesOn('after the rolling restart', load);
}

async function workGoesOn(when: string, load: Load): Promise<void> {
  const { reports, actions } = load.acknowledged;
  const wanted = { reports: reports.size + REPORTS, actions: actions.length + 1 };
  const hasGoneOn = () => reports.size >= wanted.reports && actions.length >= wanted.actions;
  await poll(`work goes on ${when}`, hasGoneOn, { withinMs: WITHIN_MS, signal: load.failed });
}

async function openIssue(host: Host, title: string): Promise<number> {
  const issue = { title, labels: ['svc:enqueue'] };
  return (await host.api<{ number: number }>('POST', `/repos/${SLUG}/issues`, issue)).number;
}

async function keepOpening(scene: Scene, signal: AbortSignal): Promise<void> {
  for (let opened = 0; !signal.aborted; await sleep(ISSUE_EVERY_MS, signal)) {
    // The issue of the operator is one more.
    const ended = (await ownIssues(scene)).filter(({ state }) => ENDS.has(state)).length;
    if (opened - ended >= OPEN_AT_MOST) continue;
    opened += 1;
    await openIssue(scene.host, `Issue ${opened}`);
  }
}

interface OwnIssue {
  number: number;
  state: string;
  isPaused: boolean;
}

/** Issues of the repo that the workers work in. */
const ownIssues = ({ view }: Scene): Promise<OwnIssue[]> =>
  view.rows(`select i.issue_number::int "number", i.state, i.is_paused "isPaused" from issues i
    join repos r on r.tenant_id = i.tenant_id and r.id = i.repo_id where r.owner || '/' || r.name = '${SLUG}'`);

async function checkNothingLost(scene: Scene, load: Load, operated: number): Promise<void> {
  const { checks, host, view } = scene;
  const { reports, claims, actions } = load.acknowledged;
  checks.none(`${reports.size} acknowledged reports are kept`, await view.lostReports(reports.keys()));
  checks.none(`${claims.size} acknowledged claims are kept`, await view.lostClaims(claims.keys()));
  const issues = await ownIssues(scene);
  const isPaused = issues.find(({ number }) => number === operated)?.isPaused;
  checks.that(
    `the last of ${actions.length} acknowledged actions is kept`,
    load.isUncertain || isPaused === load.isPaused,
  );
  const others = issues.filter(({ number }) => number !== operated);
  const unfinished = others.filter(({ state }) => state !== 'done').map(({ number, state }) => `#${number}: ${state}`);
  checks.none(`the ${others.length} issues of the workers are done`, unfinished);
  const pulls = await host.api<{ head: { ref: string } }[]>('GET', `/repos/${SLUG}/pulls?state=all&per_page=100`);
  const branches = pulls.map(({ head }) => head.ref);
  checks.equal('no pull request was made twice', new Set(branches).size, branches.length);
}
