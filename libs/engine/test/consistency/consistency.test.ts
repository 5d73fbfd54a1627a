import { beforeEach, describe, expect, test } from '@jest/globals';
import { listFindings, releaseWaiting, repairFinding, type StoreRepair } from '@pipeline/engine';
import { findIssue, jsonb } from '@pipeline/store';
import { testDatabase } from '@pipeline/testing';
import { applyHostIssue, type Bench, drain, finish, hostIssue, makeBench, take } from '../harness.ts';

const database = testDatabase();
const OLGA = { type: 'operator' as const, id: 'olga', agent: null };
let bench: Bench;
let run = 0;

beforeEach(async () => {
  run += 1;
  bench = await makeBench(database.store, { slug: `Cons-${run}/Shop` });
});

const idOf = (kind: string, number: number) => `${kind}:Cons-${run}/Shop#${number}`;
const repair = (name: StoreRepair, id: string) => repairFinding(bench.engine, name, id, OLGA);
const mine = async () =>
  (await listFindings(bench.engine)).findings.filter((finding) => finding.repoOwner === `Cons-${run}`);
const ids = async () => (await mine()).map((finding) => finding.id);
const issue = async (number = 1) => {
  const row = await findIssue(database.db, bench.tenantId, bench.repo.id, number);
  if (!row) throw new Error(`no issue ${number}`);
  return row;
};
const change = (number: number, set: Record<string, unknown>) =>
  database.db
    .updateTable('issues')
    .set(set)
    .where('repo_id', '=', bench.repo.id)
    .where('issue_number', '=', number)
    .execute();
const edge = async (kind: 'depends_on' | 'subtask', child: number, parent: number) => {
  const place = { tenant_id: bench.tenantId, child_repo_id: bench.repo.id, parent_repo_id: bench.repo.id };
  const { id } = await database.db
    .insertInto('issue_edges')
    .values({ ...place, kind, child_issue_number: child, parent_issue_number: parent })
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
};
const edges = () =>
  database.db.selectFrom('issue_edges').selectAll().where('child_repo_id', '=', bench.repo.id).execute();
const events = (eventType: string) =>
  database.db
    .selectFrom('pipeline_events')
    .select(['issue_number', 'agent', 'payload'])
    .where('repo_id', '=', bench.repo.id)
    .where('event_type', '=', eventType)
    .orderBy('id')
    .execute();
/** Fails the task of the issue permanently. */
const block = async () => {
  await applyHostIssue(bench, hostIssue(1));
  await drain(bench);
  await change(1, {
    state: 'failure-blocked',
    is_blocked: true,
    block_reason: 'merge_conflict',
    blocked_from_state: 'analyzing',
  });
  await change(1, { labels: ['svc:failure-blocked', 'svc:blocked'] });
  await database.db.deleteFrom('tasks').where('repo_id', '=', bench.repo.id).execute();
};

/** Each kind of inconsistency, and its repair. */
const CASES: [StoreRepair, string, number, () => Promise<unknown>][] = [
  ['clear-flag', 'stale_blocked', 1, block],
  [
    'resolve-subtask-edges',
    'stale_subtask_edge',
    1,
    async () => {
      for (const number of [1, 2, 3]) await applyHostIssue(bench, hostIssue(number));
      await change(1, { state: 'done', labels: ['svc:done'] });
      for (const child of [2, 3]) await edge('subtask', child, 1);
    },
  ],
  [
    'link-si',
    'si_linkage_gap',
    1,
    async () => {
      await applyHostIssue(bench, hostIssue(1));
      await change(1, { state: 'done', labels: ['svc:done'] });
      const row = { tenant_id: bench.tenantId, repo_id: bench.repo.id, issue_number: 1, track_name: 'docs' };
      await database.db.insertInto('si_issues').values(row).execute();
    },
  ],
  [
    'delete-orphan-edges',
    'orphan_dependency_edge',
    1,
    async () => {
      await applyHostIssue(bench, hostIssue(1));
      for (const parent of [8, 9]) await edge('depends_on', 1, parent);
    },
  ],
];

describe.each(CASES)('%s', (name, kind, number, arrange) => {
  test(`repairs ${kind}, records the operator, and changes nothing when repeated`, async () => {
    await arrange();
    expect(await ids()).toEqual([idOf(kind, number)]);
    expect(await repair(name, idOf(kind, number))).toBeNull();
    expect(await ids()).toEqual([]);
    const audit = await events('operator_action');
    expect(audit).toHaveLength(1);
    expect(audit[0]).toMatchObject({ issue_number: number, agent: 'olga', payload: { actorId: 'olga' } });
    expect(await repair(name, idOf(kind, number))).toBeNull();
    expect(await events('operator_action')).toHaveLength(1);
  });

  test('repairs once when called concurrently', async () => {
    await arrange();
    const both = await Promise.all([repair(name, idOf(kind, number)), repair(name, idOf(kind, number))]);
    expect(both).toEqual([null, null]);
    expect(await events('operator_action')).toHaveLength(1);
    expect(await ids()).toEqual([]);
  });

  test('throws and changes nothing when there is no finding', async () => {
    await applyHostIssue(bench, hostIssue(1));
    const before = await issue();
    expect(await repair(name, idOf(kind, 1))).toBeNull();
    expect(await issue()).toEqual(before);
    expect(await events('operator_action')).toEqual([]);
  });

  test.each([
    ['no id of a finding', () => 'nonsense'],
    ['an id of a kind that another route repairs', () => idOf('label_drift', number)],
    ['an unknown repo', () => `${kind}:nobody/nothing#1`],
    ['another tenant than the repo has', () => `${idOf(kind, number)}@somebody`],
  ])('%s is not found', async (_what, id) => {
    await arrange();
    await expect(repair(name, id())).rejects.toMatchObject({ code: 'CONSISTENCY_FINDING_NOT_FOUND' });
    expect(await mine()).toHaveLength(1);
  });

  test('a disabled repo is unknown', async () => {
    await arrange();
    await database.db.updateTable('repos').set({ enabled: false }).where('id', '=', bench.repo.id).execute();
    expect(await mine()).toEqual([]);
    await expect(repair(name, idOf(kind, number))).rejects.toMatchObject({ code: 'CONSISTENCY_FINDING_NOT_FOUND' });
  });

  test('an id without an issue number is refused as such', async () => {
    const id = `${kind}:Cons-${run}/Shop`;
    await expect(repair(name, id)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  });

  test('an unknown issue is not found, unless edges may outlive it', async () => {
    const answer = repair(name, idOf(kind, 404));
    if (name === 'delete-orphan-edges') expect(await answer).toBeNull();
    else await expect(answer).rejects.toMatchObject({ code: 'CONSISTENCY_FINDING_NOT_FOUND' });
  });
});

describe('clear-flag', () => {
  test('unblocks a failure block: the issue continues where it stopped, with its task', async () => {
    await block();
    await repair('clear-flag', idOf('stale_blocked', 1));
    expect(await issue()).toMatchObject({ state: 'analyzing', is_blocked: false, labels: ['svc:analyzing'] });
    expect((await take(bench)).taskType).toBe('analyze');
    expect((await events('operator_action'))[0]?.payload).toMatchObject({
      action: 'unblock',
      reason: `clear-flag of ${idOf('stale_blocked', 1)}`,
    });
    expect(await events('issue_unblocked')).toHaveLength(1);
  });

  test('clears a mere flag and its label without changing the state and its task', async () => {
    await applyHostIssue(bench, hostIssue(1));
    await drain(bench);
    await change(1, { is_blocked: true, block_reason: 'unknown', labels: ['svc:analyzing', 'svc:blocked'] });
    const [finding] = await mine();
    expect(finding?.detail).toMatchObject({ state: 'analyzing', blockReason: 'unknown' });
    await repair('clear-flag', finding?.id ?? '');
    expect(await issue()).toMatchObject({
      state: 'analyzing',
      is_blocked: false,
      block_reason: null,
      labels: ['svc:analyzing'],
    });
    expect(await events('state_transition')).toHaveLength(1);
    const sent = await database.db
      .selectFrom('projections')
      .select('action')
      .where('repo_id', '=', bench.repo.id)
      .where('status', '=', 'pending')
      .execute();
    expect(sent.map((row) => row.action)).toContainEqual({ type: 'swapLabels', remove: ['svc:blocked'], add: [] });
    expect((await take(bench)).taskType).toBe('analyze');
  });

  test('returns the remaining finding when the workflow refuses it', async () => {
    await block();
    await database.db
      .updateTable('workflow_snapshots')
      .set({ body: jsonb({ version: 1, states: [], edges: [] }) })
      .where('repo_id', '=', bench.repo.id)
      .execute();
    expect(await repair('clear-flag', idOf('stale_blocked', 1))).toMatchObject({
      id: idOf('stale_blocked', 1),
      kind: 'stale_blocked',
      repoOwner: `Cons-${run}`,
      repoName: 'Shop',
      issueNumber: 1,
      detail: { state: 'failure-blocked' },
    });
  });
});

describe('edges', () => {
  test('resolves the edges of a finished epic, with the actor, and no others', async () => {
    for (const number of [1, 2, 3]) await applyHostIssue(bench, hostIssue(number));
    await change(1, { state: 'done', labels: ['svc:done'] });
    const stale = await edge('subtask', 2, 1);
    const other = await edge('subtask', 3, 2);
    await repair('resolve-subtask-edges', idOf('stale_subtask_edge', 1));
    const all = new Map((await edges()).map((row) => [row.id, row]));
    expect(all.get(stale)).toMatchObject({ active: false, resolved_by: 'operator', resolved_at: expect.any(String) });
    expect(all.get(other)).toMatchObject({ active: true, resolved_by: null });
  });

  test('deletes edges without a record instead of resolving them; the waiting issue continues', async () => {
    await applyHostIssue(bench, hostIssue(1));
    await applyHostIssue(bench, hostIssue(2));
    await drain(bench);
    const task = await take(bench);
    await finish(bench, task, { outcome: 'depends', result: { on: ['#8'] } });
    const kept = await edge('depends_on', 2, task.issueNumber ?? 0);
    const id = idOf('orphan_dependency_edge', task.issueNumber ?? 0);
    const [finding] = await mine();
    expect(finding).toMatchObject({ id, detail: { orphanEdgeIds: [expect.any(Number)] } });
    expect((await issue(task.issueNumber ?? 0)).state).toBe('dependency-blocked');
    await repair('delete-orphan-edges', id);
    expect((await edges()).map((row) => row.id)).toEqual([kept]);
    expect((await events('operator_action'))[0]?.payload).toMatchObject({ edgeIds: finding?.detail.orphanEdgeIds });
    await releaseWaiting(bench.engine);
    expect((await issue(task.issueNumber ?? 0)).state).toBe('analyzing');
  });

  test('deletes edges without a record of either end too', async () => {
    await edge('depends_on', 5, 6);
    expect(await ids()).toEqual([idOf('orphan_dependency_edge', 5)]);
    const id = idOf('orphan_dependency_edge', 5);
    expect(await Promise.all([1, 2, 3].map(() => repair('delete-orphan-edges', id)))).toEqual([null, null, null]);
    expect(await edges()).toEqual([]);
    const audit = await events('operator_action');
    expect(audit).toHaveLength(1);
    expect(audit[0]).toMatchObject({ issue_number: 5, agent: 'olga' });
  });
});

describe('a slug that two tenants have', () => {
  test('the ids name the tenant, and repairs affect only that tenant', async () => {
    await block();
    const first = bench;
    const secondEngine = await makeBench(database.store, { slug: `Cons-${run}/Shop`, tenant: `second-${run}` });
    bench = secondEngine;
    await block();
    const plain = idOf('stale_blocked', 1);
    expect(await ids()).toEqual([`${plain}@Cons-${run}`, `${plain}@second-${run}`]);
    await expect(repair('clear-flag', plain)).rejects.toMatchObject({ code: 'CONSISTENCY_FINDING_NOT_FOUND' });
    expect(await repair('clear-flag', `${plain}@second-${run}`)).toBeNull();
    expect((await issue()).is_blocked).toBe(false);
    bench = first;
    expect(await ids()).toEqual([`${plain}@Cons-${run}`]);
    expect((await issue()).is_blocked).toBe(true);
  });

  test('accepts a tenant that need not be named', async () => {
    await block();
    expect(await repair('clear-flag', `${idOf('stale_blocked', 1).toLowerCase()}@Cons-${run}`)).toBeNull();
    expect((await issue()).is_blocked).toBe(false);
  });
});
