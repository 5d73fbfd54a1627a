import { expect, test } from '@jest/globals';
import { transitionIssue } from '@pipeline/engine';
import { findIssue } from '@pipeline/store';
import { testDatabase } from '@pipeline/testing';
import { applyHostIssue, hostIssue, makeBench } from '../harness.ts';
import { OLGA } from '../stage.ts';

const database = testDatabase();

test('a move that waited for another one is neither before it nor after a negative time', async () => {
  database.clock.now = new Date('2026-03-10T12:00:00Z');
  const bench = await makeBench(database.store);
  await applyHostIssue(bench, hostIssue(1));
  const issue = await findIssue(database.db, bench.tenantId, bench.repo.id, 1);
  const key = { tenantId: bench.tenantId, issueId: issue?.id ?? 0 };
  const began = Date.parse(issue?.state_entered_at ?? '');
  const moveAt = (ms: number, to: 'planning' | 'failure-blocked') => {
    database.clock.now = new Date(began + ms);
    return transitionIssue(bench.engine, key, to, OLGA);
  };
  await moveAt(5_000, 'planning');
  // Its transaction began before that of the first move, and got the lock of the issue after it.
  await moveAt(4_800, 'failure-blocked');
  const moves = await database.db
    .selectFrom('transitions')
    .select(['to_state', 'at', 'duration_in_from_ms'])
    .where('issue_id', '=', key.issueId)
    .orderBy('id', 'desc')
    .limit(2)
    .execute();
  const at = new Date(began + 5_000).toISOString();
  expect(moves.map((move) => ({ ...move, at: new Date(move.at).toISOString() }))).toEqual([
    { to_state: 'failure-blocked', at, duration_in_from_ms: 0 },
    { to_state: 'planning', at, duration_in_from_ms: 5_000 },
  ]);
  const after = await findIssue(database.db, bench.tenantId, bench.repo.id, 1);
  expect(new Date(after?.state_entered_at ?? 0).toISOString()).toBe(at);
});
