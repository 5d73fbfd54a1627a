import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { sleep } from '@pipeline/runtime';
import { testDatabase } from '@pipeline/testing';
import { StoreView } from '../e2e/store-view.ts';
import { type Gate, startGate } from './replicas/gate.ts';
import { BOT, type Host, SLUG, startHost } from './replicas/host.ts';
import { type Service, startService } from './replicas/service.ts';

const CONFIG = `
agents: {}
repos: [{slug: ${SLUG}, vcs: sandbox, branch: main, checks: none}]
pollIntervals: {sprintMaster: 2, monitor: 1}
`;

/** Milliseconds from the freeze of a leader to the first write of its successor (docs/decisions/0012). */
const TAKEOVER_MS = 30_000;

const folder = mkdtempSync(join(tmpdir(), 'frozen-leader-'));
writeFileSync(join(folder, 'pipeline.yaml'), CONFIG);
const cleanups: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const cleanup of cleanups.reverse()) await cleanup();
  rmSync(folder, { recursive: true, force: true });
});
const database = testDatabase();

interface Replica {
  service: Service;
  gate: Gate;
}

async function startMonitor(host: Host): Promise<Replica> {
  const gate = await startGate(host.sandbox.url);
  cleanups.push(() => gate.close());
  const service = await startService('monitor', {
    DATABASE_URL: database.url,
    DATABASE_POOL_SIZE: '4',
    PIPELINE_CONFIG: join(folder, 'pipeline.yaml'),
    SANDBOX_URL: gate.url,
    SANDBOX_TOKEN: BOT.token,
  });
  cleanups.push(() => service.kill());
  return { service, gate };
}

async function until(what: string, holds: () => Promise<boolean> | boolean, withinMs = 60_000): Promise<number> {
  const begun = performance.now();
  while (!(await holds())) {
    if (performance.now() - begun > withinMs) throw new Error(`did not come true within ${withinMs} ms: ${what}`);
    await sleep(50);
  }
  return performance.now() - begun;
}

const openIssue = async ({ api }: Host, title: string): Promise<number> =>
  (await api<{ number: number }>('POST', `/repos/${SLUG}/issues`, { title, labels: ['svc:enqueue'] })).number;

const commentsOf = async ({ api }: Host, issue: number): Promise<string[]> => {
  const all = await api<{ user: { login: string }; body: string }[]>('GET', `/repos/${SLUG}/issues/${issue}/comments`);
  return all.filter(({ user }) => user.login === BOT.login).map(({ body }) => body);
};

const isReady = async ({ service }: Replica) => (await fetch(`${service.url}/ready`)).status === 200;

/** Freezes the leader between its look for the status comment of a new issue and the write that follows. */
async function freezeMidWrite(host: Host, { gate, service }: Replica, title: string): Promise<number> {
  let frozen = false;
  gate.atNext(
    (method, path) => method === 'GET' && /\/issues\/\d+\/comments/.test(path),
    () => {
      service.freeze();
      frozen = true;
    },
  );
  const issue = await openIssue(host, title);
  await until('the leader looks for the status comment', () => frozen);
  return issue;
}

test('a frozen leader is replaced within 30 s, and writes nothing as leader when it goes on', async () => {
  const view = new StoreView(database.url);
  const host = await startHost();
  cleanups.push(() => host.stop());
  const first = await startMonitor(host);
  await until('the first one polls', async () => (await view.rows('select from repo_sync')).length > 0);
  const second = await startMonitor(host);

  const one = await freezeMidWrite(host, first, 'One');
  const tookMs = await until(
    'the second one writes',
    async () => (await commentsOf(host, one)).length > 0,
    TAKEOVER_MS,
  );
  expect(tookMs).toBeLessThan(TAKEOVER_MS);
  const two = await openIssue(host, 'Two');
  await until('writes go on', async () => (await commentsOf(host, two)).length > 0);

  const before = first.gate.writes.length;
  first.service.thaw();
  await until('the first one is back', () => isReady(first));
  const up = ({ service }: Replica) =>
    service.lines.filter(({ msg }) => msg === 'direct connection to the store is up').length;
  await until('it has noticed that its session ended', () => up(first) === 2);
  const three = await openIssue(host, 'Three');
  await until('the third issue is written', async () => (await commentsOf(host, three)).length > 0);
  expect(first.gate.writes.slice(before)).toEqual([]);
  for (const issue of [one, two, three]) expect(await commentsOf(host, issue)).toHaveLength(1);

  // Now the other way round: the one that was frozen first is a successor like any other.
  await until('the outbox is empty', async () => (await view.open()).projections === 0);
  const four = await freezeMidWrite(host, second, 'Four');
  await until('the first one leads again', async () => (await commentsOf(host, four)).length > 0, TAKEOVER_MS);
  second.service.thaw();
  await until('the second one is back', async () => up(second) === 2 && (await isReady(second)));
  await until('the outbox is empty', async () => (await view.open()).projections === 0);
  expect(await commentsOf(host, four)).toHaveLength(1);
  expect(await view.rows(`select status from projections where status <> 'complete'`)).toEqual([]);
  expect(await view.rows('select name, epoch::int from leaders')).toEqual([{ name: 'monitor', epoch: 3 }]);
}, 900_000);
