import { beforeEach, expect, test } from '@jest/globals';
import type { ExecuteResult } from '@pipeline/domain';
import { beginSending, sendable, settle } from '@pipeline/engine';
import { testDatabase } from '@pipeline/testing';
import { applyHostIssue, hostIssue, makeBench } from '../harness.ts';
import { countingStore } from '../statement-cost.ts';

const database = testDatabase();

beforeEach(async () => {
  await database.db.deleteFrom('projection_attempts').execute();
  await database.db.deleteFrom('projections').execute();
});

const OK: ExecuteResult = { status: 'ok', repeated: false, created: null };

test('a host write begins in two round trips and settles in one when nothing follows from it', async () => {
  const { store, costOf } = countingStore(database);
  const bench = await makeBench(store);
  await applyHostIssue(bench, hostIssue(1));
  const entries = await sendable(bench.engine, 'sandbox', 10);
  const types = [];
  for (const { tenant_id, id } of entries) {
    const begun = await costOf(beginSending(bench.engine, tenant_id, id));
    if (!begun.result) throw new Error(`entry ${id} did not begin`);
    types.push(begun.result.projection.action.type);
    // Start, begin, commit.
    expect(begun).toMatchObject({ statements: 3, packets: 2 });
    const settled = await costOf(settle(bench.engine, begun.result, OK));
    expect(settled).toMatchObject({ statements: 1, packets: 1 });
  }
  await store.close();
  expect(types.sort()).toEqual(['swapLabels', 'updateComment']);
});
