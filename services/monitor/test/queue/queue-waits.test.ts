import { beforeEach, describe, expect, test } from '@jest/globals';
import { AGENT_OF, type TaskType } from '@pipeline/domain';
import { actOnIssue, claim, fail, reclaimExpired, registerWorker, releaseDue, report, start } from '@pipeline/engine';
import { storeNow } from '@pipeline/store';
import { testDatabase } from '@pipeline/testing';
import { Registry } from 'prom-client';
import { createTotals, FreshClaims } from '../../src/prometheus/totals.ts';
import { admit, type Bench, makeBench } from '../support/bench.ts';

const database = testDatabase();
const MINUTE = 60;
const OLGA = { type: 'operator', id: 'olga', agent: null } as const;
const ALL: TaskType[] = ['analyze', 'plan', 'develop', 'review', 'merge'];

let bench: Bench;
let workerId: string;
let claims: FreshClaims;
let start0 = Date.parse('2026-03-01T00:00:00Z');
let issue = 0;

const at = (seconds: number): void => {
  database.clock.now = new Date(start0 + seconds * 1_000);
};
const look = async () => (await claims.look(await storeNow(database.store.fleet))).toSorted((a, b) => a - b);

async function take(taskType: TaskType = 'analyze') {
  const task = await claim(bench.engine, { tenantId: bench.tenantId, workerId, taskTypes: [taskType], repoIds: null });
  if (!task) throw new Error('there is nothing to claim');
  return { tenantId: bench.tenantId, taskId: task.id, claimToken: task.claimToken };
}

/** The agent ends with a question, so that nothing follows. */
async function finish(ref: Awaited<ReturnType<typeof take>>): Promise<void> {
  await start(bench.engine, ref);
  await report(bench.engine, ref, {
    outcome: 'needs-clarification',
    result: { question: 'Which?' },
    artefacts: [],
    findings: [],
    intelligence: [],
    invocations: [],
  });
}

beforeEach(async () => {
  start0 += 24 * 3_600_000;
  at(0);
  bench = await makeBench(database.store, 'acme/shop');
  const worker = { name: 'w1', hostname: '', version: '1', repos: [], taskTypes: ALL, labels: {} };
  workerId = await registerWorker(bench.engine, bench.tenantId, worker);
  claims = new FreshClaims(database.store, [...new Set(Object.values(AGENT_OF))]);
  issue += 1;
});

describe('how long a task waited', () => {
  test('is counted once, also for work that ended before anybody looked', async () => {
    await admit(bench, issue);
    expect(await look()).toEqual([]);
    at(7);
    await finish(await take());
    at(15);
    expect(await look()).toEqual([7]);
    at(20);
    expect(await look()).toEqual([]);
    at(500);
    expect(await look()).toEqual([]);
  });

  test('counts a claim that was seen late, as by a transaction that committed after the look', async () => {
    await admit(bench, issue);
    at(100);
    await look();
    at(95);
    await finish(await take());
    at(110);
    expect(await look()).toEqual([95]);
    at(115);
    expect(await look()).toEqual([]);
  });

  test('does not count what was claimed before this process looked for the first time', async () => {
    await admit(bench, issue);
    at(5);
    await finish(await take());
    at(10);
    expect([await look(), await look()]).toEqual([[], []]);
  });

  test('counts from the end of a pause', async () => {
    const issueId = await admit(bench, issue);
    await look();
    const key = { tenantId: bench.tenantId, issueId };
    at(10 * MINUTE);
    await actOnIssue(bench.engine, key, 'pause', OLGA);
    at(20 * MINUTE);
    await actOnIssue(bench.engine, key, 'resume', OLGA);
    at(20 * MINUTE + 3);
    await finish(await take());
    expect(await look()).toEqual([3]);
  });

  test('counts from the end of the backoff after a failure', async () => {
    await admit(bench, issue);
    await look();
    const failure = { errorMessage: 'no', errorClass: 'transient' as const, invocations: [] };
    const ref = await take();
    await start(bench.engine, ref);
    await fail(bench.engine, ref, failure);
    at(60 * MINUTE);
    expect(await releaseDue(bench.engine)).toBe(1);
    at(60 * MINUTE + 4);
    await finish(await take());
    expect(await look()).toEqual([0, 4]);
  });

  test('counts from when a lost claim was taken back, and not again by a retry of what waits already', async () => {
    const issueId = await admit(bench, issue);
    await look();
    at(2);
    await take();
    at(30 * MINUTE);
    expect(await reclaimExpired(bench.engine)).toBe(1);
    at(31 * MINUTE);
    await actOnIssue(bench.engine, { tenantId: bench.tenantId, issueId }, 'retry', OLGA);
    at(32 * MINUTE);
    await finish(await take());
    expect(await look()).toEqual([2, 2 * MINUTE]);
  });
});

test('the histogram counts every claim that was made while it was watched', async () => {
  const registry = new Registry();
  const totals = createTotals(registry, database.store);
  await totals.refresh();
  for (let n = 1; n <= 5; n += 1) {
    await admit(bench, 1_000 * issue + n);
    at(n * 10);
    await finish(await take());
    at(n * 10 + 5);
    await totals.refresh();
  }
  const text = await registry.metrics();
  expect(text).toContain('svc_task_queue_wait_seconds_count 5');
  expect(text).toMatch(/svc_task_queue_wait_seconds_sum 30\n/);
});
