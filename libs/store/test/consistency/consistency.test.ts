import { beforeEach, describe, expect, test } from '@jest/globals';
import { outputLabels, STATES, type State, type StoredConsistencyKind } from '@pipeline/domain';
import { testDatabase } from '@pipeline/testing';
import { sql } from 'kysely';
import {
  countDetected,
  detect,
  insertProjections,
  inTransaction,
  reposWithTenant,
  sharedSlugs,
} from '../../src/index.ts';
import { makeWorld, type World } from '../consistency-world.ts';

const database = testDatabase();
let world: World;
let run = 0;

beforeEach(async () => {
  run += 1;
  world = await makeWorld(database, `Owner-${run}/Shop`);
});

const find = (kind: StoredConsistencyKind, issueNumber?: number) =>
  detect(database.store.db, kind, { ...world.scope, ...(issueNumber !== undefined && { issueNumber }) }, 1_000);
const numbers = async (kind: StoredConsistencyKind) => (await find(kind)).map((found) => found.issueNumber);
const BLOCKED = { is_blocked: true, labels: ['svc:failure-blocked', 'svc:blocked'] };

describe('stale_blocked', () => {
  test('finds a blocked, unfinished issue without an active dependency and names the kind of block', async () => {
    await world.issue(1, { ...BLOCKED, state: 'failure-blocked', block_reason: 'merge_conflict' });
    expect(await find('stale_blocked')).toEqual([
      {
        repo: { owner: `Owner-${run}`, name: 'Shop' },
        slugKey: `owner-${run}/shop`,
        tenant: `Owner-${run}`,
        issueNumber: 1,
        detail: {
          title: 'Issue 1',
          state: 'failure-blocked',
          blockReason: 'merge_conflict',
          blockClassification: null,
          blockedFromState: null,
          since: '2026-01-01T00:00:00.000Z',
        },
      },
    ]);
  });

  test('finds the flag in any state but done unless a dependency is active; resolved ones and subtasks do not count', async () => {
    await world.issue(1, { ...BLOCKED, state: 'planning' });
    await world.issue(2, { ...BLOCKED, state: 'done' });
    await world.issue(3, { state: 'failure-blocked' });
    for (const number of [4, 5, 6]) await world.issue(number, { ...BLOCKED, state: 'dependency-blocked' });
    await world.edge('depends_on', 4, 1);
    await world.edge('depends_on', 5, 1, false);
    await world.edge('subtask', 6, 1);
    await world.edge('depends_on', 1, 6, false);
    expect(await numbers('stale_blocked')).toEqual([1, 5, 6]);
  });
});

describe('stale_subtask_edge', () => {
  test('finds each done epic with outstanding subtasks once', async () => {
    await world.issue(1, { state: 'done' });
    await world.issue(2, { state: 'waiting-for-subtasks' });
    await world.issue(3, { state: 'done' });
    const edges = [await world.edge('subtask', 11, 1), await world.edge('subtask', 12, 1)];
    await world.edge('subtask', 13, 1, false);
    await world.edge('subtask', 14, 2);
    await world.edge('depends_on', 15, 3);
    const found = await find('stale_subtask_edge');
    expect(found.map((one) => [one.issueNumber, one.detail])).toEqual([
      [1, { title: 'Issue 1', doneSince: '2026-01-01T00:00:00.000Z', edgeIds: edges, subtasks: [11, 12] }],
    ]);
  });
});

describe('si_linkage_gap', () => {
  test('finds an open self-improvement issue whose pipeline issue is done', async () => {
    const key = { tenant_id: world.tenantId, repo_id: world.repo.id, track_name: 'docs' };
    const at = '2026-01-02T00:00:00.000Z';
    for (const number of [1, 2]) await world.issue(number, { state: 'done' });
    await world.issue(3);
    await database.db
      .insertInto('si_issues')
      .values([
        { ...key, issue_number: 1, created_at: at },
        { ...key, issue_number: 2, completed_at: at },
        { ...key, issue_number: 3 },
        { ...key, issue_number: 4 },
      ])
      .execute();
    const found = await find('si_linkage_gap');
    expect(found.map((one) => [one.issueNumber, one.detail])).toEqual([
      [1, { track: 'docs', createdAt: at, doneSince: '2026-01-01T00:00:00.000Z' }],
    ]);
  });
});

/** Correct labels of the issue, and incorrect variants. */
function variants(row: { state: State; is_blocked: boolean; is_paused: boolean }) {
  const wanted = outputLabels({ state: row.state, isBlocked: row.is_blocked, isPaused: row.is_paused });
  const other = row.state === 'planning' ? 'svc:analyzing' : 'svc:planning';
  const right = [wanted, [...wanted].reverse(), ['bug', 'svc:enqueue', 'svc:urgent', 'svcx', ...wanted]];
  const wrong = [
    [...wanted, other],
    [...wanted, 'svc:unheard-of'],
    [...wanted.filter((label) => label !== 'svc:paused'), ...(row.is_paused ? [] : ['svc:paused'])],
    [...wanted.filter((label) => label !== 'svc:blocked'), ...(row.is_blocked ? [] : ['svc:blocked'])],
    [...wanted.slice(1), 'svc:done', 'svc:new'],
  ];
  return [
    right.map((labels) => ({ ...row, labels, agrees: true })),
    wrong.map((labels) => ({ ...row, labels, agrees: false })),
  ].flat();
}

describe('label_drift', () => {
  test('lists missing and contradicting labels', async () => {
    await world.issue(1, { state: 'planning', is_paused: true, labels: ['bug', 'svc:analyzing', 'svc:planning'] });
    const [found] = await find('label_drift');
    expect(found?.detail).toEqual({
      state: 'planning',
      isBlocked: false,
      isPaused: true,
      labels: ['bug', 'svc:analyzing', 'svc:planning'],
      missing: ['svc:paused'],
      unexpected: ['svc:analyzing'],
    });
  });

  test('finds exactly the issues whose labels the domain would change, and never a done one', async () => {
    const flags = [false, true].flatMap((is_blocked) => [false, true].map((is_paused) => ({ is_blocked, is_paused })));
    const issues = STATES.flatMap((state) => flags.flatMap((flag) => variants({ state, ...flag })));
    const drifted: number[] = [];
    for (const [index, { agrees, ...row }] of issues.entries()) {
      await world.issue(index + 1, row);
      if (!agrees && row.state !== 'done') drifted.push(index + 1);
    }
    expect(drifted.length).toBeGreaterThan(100);
    expect(await numbers('label_drift')).toEqual(drifted);
  });

  test('ignores pending label writes, but not failed ones', async () => {
    for (const number of [1, 2, 3]) {
      const issueId = await world.issue(number, { labels: [] });
      if (number === 3) continue;
      await inTransaction(database.store.db, (tx) =>
        insertProjections(tx, world.tenantId, [
          {
            repoId: world.repo.id,
            issueId,
            issueNumber: number,
            clientType: 'sandbox',
            action: { type: 'addLabels', labels: ['svc:planning'] },
            idempotencyKey: `${run}-${number}`,
          },
        ]),
      );
    }
    await database.db
      .updateTable('projections')
      .set({ status: 'failed' })
      .where('idempotency_key', '=', `${run}-2`)
      .execute();
    expect(await numbers('label_drift')).toEqual([2, 3]);
  });
});

describe('orphan_dependency_edge', () => {
  test('groups edges to unknown issues by the waiting issue: the child of a dependency, the epic of a subtask', async () => {
    await world.issue(1);
    await world.issue(2, { state: 'waiting-for-subtasks' });
    const missingParent = await world.edge('depends_on', 1, 8);
    const resolved = await world.edge('depends_on', 1, 9, false);
    const missingSubtask = await world.edge('subtask', 7, 2);
    const bothGone = await world.edge('depends_on', 5, 6);
    await world.edge('depends_on', 1, 2);
    const found = await find('orphan_dependency_edge');
    expect(found.map((one) => [one.issueNumber, one.detail.orphanEdgeIds])).toEqual([
      [1, [missingParent, resolved]],
      [2, [missingSubtask]],
      [5, [bothGone]],
    ]);
    const at = (number: number) => `Owner-${run}/Shop#${number}`;
    expect(found.map((one) => (one.detail.edges as unknown[])[0])).toEqual([
      { id: missingParent, kind: 'depends_on', active: true, child: at(1), parent: at(8), missing: ['parent'] },
      { id: missingSubtask, kind: 'subtask', active: true, child: at(7), parent: at(2), missing: ['child'] },
      { id: bothGone, kind: 'depends_on', active: true, child: at(5), parent: at(6), missing: ['child', 'parent'] },
    ]);
  });
});

describe('a scope', () => {
  const KINDS = ['stale_blocked', 'stale_subtask_edge', 'label_drift', 'orphan_dependency_edge'] as const;

  test('a scope of one issue finds the same as the list and nothing of other issues', async () => {
    for (const number of [1, 2]) {
      await world.issue(number, { ...BLOCKED, state: 'planning' });
      await world.issue(number + 10, { state: 'done' });
      await world.edge('subtask', number, number + 10);
      await world.edge('depends_on', number, number + 90, false);
    }
    for (const kind of KINDS) {
      const number = kind === 'stale_subtask_edge' ? 11 : 1;
      const all = await find(kind);
      expect(all).toHaveLength(2);
      expect(await find(kind, number)).toEqual(all.slice(0, 1));
      expect(await find(kind, 77)).toEqual([]);
    }
  });

  test('a scope of all covers every tenant, but no disabled repos', async () => {
    const other = await makeWorld(database, `Owner-${run}/Shop`, `another-${run}`);
    const disabled = await makeWorld(database, `Owner-${run}/Old`);
    await sql`update repos set enabled = false where id = ${disabled.repo.id}`.execute(database.db);
    const before = await countDetected(database.store.db, 'stale_blocked');
    for (const place of [world, other, disabled]) await place.issue(1, { ...BLOCKED, state: 'failure-blocked' });
    const all = await detect(database.store.db, 'stale_blocked', 'all', 10_000);
    const mine = all.filter((found) => found.slugKey === `owner-${run}/shop`);
    expect(mine.map((found) => found.tenant)).toEqual([`Owner-${run}`, `another-${run}`]);
    expect(all.some((found) => found.repo.name === 'Old')).toBe(false);
    expect(await countDetected(database.store.db, 'stale_blocked')).toBe(before + 2);
    expect(await detect(database.store.db, 'stale_blocked', 'all', 1)).toHaveLength(1);
    expect(await sharedSlugs(database.store.db)).toContain(`owner-${run}/shop`);
    expect(await sharedSlugs(database.store.db)).not.toContain(`owner-${run}/old`);
    const repos = await reposWithTenant(database.store.db, { owner: `OWNER-${run}`, name: 'shop' });
    expect(repos.map((repo) => [repo.id, repo.tenant]).sort()).toEqual([
      [world.repo.id, `Owner-${run}`],
      [other.repo.id, `another-${run}`],
    ]);
  });
});
