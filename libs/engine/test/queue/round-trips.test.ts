import { expect, test } from '@jest/globals';
import { actOnIssue, admin, answerPlanOf, type IssueAction, report, start, transitionIssue } from '@pipeline/engine';
import { findIssue } from '@pipeline/store';
import { testDatabase } from '@pipeline/testing';
import {
  applyHostIssue,
  claimNext,
  drain,
  finish,
  goodOutcome,
  hostIssue,
  makeBench,
  paid,
  refOf,
  take,
} from '../harness.ts';
import { countingStore } from '../statement-cost.ts';

const database = testDatabase();

/**
 * Grows only with a reason: each round trip holds the locks of the issue and its run for longer. The start and the commit
 * of a transaction count.
 */
const MOST = {
  claim: { statements: 9, packets: 5 },
  start: { statements: 1, packets: 1 },
  report: { statements: 15, packets: 10 },
  action: { statements: 15, packets: 11 },
  event: { statements: 8, packets: 4 },
};

const isOver = (name: keyof typeof MOST, { statements, packets }: { statements: number; packets: number }) =>
  statements > MOST[name].statements || packets > MOST[name].packets;

test('a claim, its start and a report with a cost stay within their statements and round trips', async () => {
  const { store, costOf } = countingStore(database);
  const bench = await makeBench(store);
  await applyHostIssue(bench, hostIssue(1));
  for (;;) {
    await drain(bench);
    const claimed = await costOf(claimNext(bench));
    const { result: task, ...ofClaim } = claimed;
    if (!task) break;
    const of = (name: string, cost: { statements: number; packets: number }) => ({
      name: `${name} ${task.taskType}`,
      cost,
    });
    const { result: _lease, ...ofStart } = await costOf(start(bench.engine, refOf(bench, task)));
    const outcome = { ...goodOutcome(task.taskType, 1), artefacts: [], findings: [], invocations: [paid(0.1)] };
    const { result: _answer, ...ofReport } = await costOf(report(bench.engine, refOf(bench, task), outcome));
    const costs = { claim: ofClaim, start: ofStart, report: ofReport };
    const over = Object.entries(costs)
      .filter(([name, cost]) => isOver(name as keyof typeof MOST, cost))
      .map(([name, cost]) => of(name, cost));
    expect(over).toEqual([]);
  }
  await store.close();
});

test("a person's actions on an issue stay within their statements and round trips", async () => {
  const { store, costOf } = countingStore(database);
  const bench = await makeBench(store);
  await applyHostIssue(bench, hostIssue(2));
  await drain(bench);
  const issue = await findIssue(store.db, bench.tenantId, bench.repo.id, 2);
  const key = { tenantId: bench.tenantId, issueId: issue?.id ?? 0 };
  const actor = { type: 'operator', id: 'ada', agent: null } as const;
  const act = (action: IssueAction) => actOnIssue(bench.engine, key, action, actor);
  const actions: [string, () => Promise<unknown>][] = [
    ['pause', () => act('pause')],
    ['resume', () => act('resume')],
    ['retry', () => act('retry')],
    ['transition', () => transitionIssue(bench.engine, key, 'failure-blocked', actor)],
    ['unblock', () => act('unblock')],
    ['reimplement', () => act('reimplement')],
    ['cancel', () => act('cancel')],
  ];
  const over: object[] = [];
  for (const [name, perform] of actions) {
    // Its claim is withdrawn.
    if (name === 'cancel') expect(await claimNext(bench)).toBeDefined();
    const { result: _state, ...cost } = await costOf(perform());
    if (isOver('action', cost)) over.push({ name, ...cost });
    await drain(bench);
  }
  expect(over).toEqual([]);
  await store.close();
});

test("a person's answer to a plan stays within them", async () => {
  const { store, costOf } = countingStore(database);
  const bench = await makeBench(store);
  const { owner, name } = bench.repo;
  const by = { engine: bench.engine, actor: 'ada', reason: null };
  await admin.setPlanApproval(by, { repo: `${owner}/${name}`, org: null }, 'required');
  await applyHostIssue(bench, hostIssue(4));
  const plan = async () => finish(bench, await take(bench), goodOutcome('plan', 4));
  await finish(bench, await take(bench), goodOutcome('analyze', 4));
  await plan();
  const issue = await findIssue(store.db, bench.tenantId, bench.repo.id, 4);
  const key = { tenantId: bench.tenantId, issueId: issue?.id ?? 0 };
  const actor = { type: 'operator', id: 'ada', agent: null, reason: 'more' } as const;
  const answer = (kind: 'approve' | 'reject', version: number) =>
    costOf(answerPlanOf(bench.engine, key, { kind, version }, actor));
  await drain(bench);
  const { result: _rejected, ...ofRejection } = await answer('reject', 1);
  expect(isOver('action', ofRejection) ? ofRejection : null).toBeNull();
  await plan();
  await drain(bench);
  const { result: _approved, ...ofApproval } = await answer('approve', 2);
  expect(isOver('action', ofApproval) ? ofApproval : null).toBeNull();
  await store.close();
});

test('an event about an issue of the host that changes no state stays within them', async () => {
  const { store, costOf } = countingStore(database);
  const bench = await makeBench(store);
  const shown = hostIssue(3);
  await applyHostIssue(bench, shown);
  await drain(bench);
  const labeled = { ...shown, labels: [...shown.labels, 'ui'], updatedAt: '2030-01-01T00:00:00Z' };
  const { result: _, ...cost } = await costOf(applyHostIssue(bench, labeled, { action: 'labeled', label: 'ui' }));
  expect(cost).toEqual(MOST.event);
  await store.close();
});
