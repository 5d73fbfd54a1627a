import { expect, test } from '@jest/globals';
import { beginSending, sendable, settle } from '@pipeline/engine';
import { testDatabase } from '@pipeline/testing';
import { applyHostIssue, hostIssue, makeBench } from '../harness.ts';
import { countingStore } from '../statement-cost.ts';

const database = testDatabase();

test('a host write begins and settles in two round trips each', async () => {
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
    const result = { status: 'ok' as const, repeated: false, created: null };
    const settled = await costOf(settle(bench.engine, begun.result, result));
    // Start, issue, entry, context; attempt, entry, commit.
    expect(settled).toMatchObject({ statements: 7, packets: 2 });
  }
  await store.close();
  expect(types.sort()).toEqual(['swapLabels', 'updateComment']);
});
